package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/process"
)

// leaky breaks the contract in many ways and echoes the key with markup and control
// characters.
func leaky(res *response) {
	key := res.request.Header.Get("Authorization")
	res.header.Del("Deprecation")
	res.header.Set("X-Got", key)
	if res.header.Get("Sunset") != "" {
		res.header.Set("Sunset", "Wed, 05 Dec 2029 00:00:00 GMT")
	}
	if res.status == 201 {
		res.status = 200
	}
	if res.status >= 400 {
		res.body = `{"message":"\u001b[31m bad key ` + key + `","got":"` + key + "\x1b[31m\x00" + `"}`
	}
}

func write(t *testing.T, r *conformance.Report, f func(*conformance.Report, io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(r, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func brief(r *conformance.Report, w io.Writer) error   { return r.WriteText(w, false) }
func verbose(r *conformance.Report, w io.Writer) error { return r.WriteText(w, true) }

func wantParts(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("the text does not have %q", s)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Every format has every verdict, without the key and the target's control characters.
func TestFormats(t *testing.T) {
	t.Parallel()
	r := run(t, variant{http: responses("", 0, leaky), opts: conformance.Options{Skip: []string{"pets.list.status"}}})
	c := r.Counts
	if c[conformance.Pass] == 0 || c[conformance.Fail] == 0 || c[conformance.Warn] == 0 || c[conformance.Skip] == 0 {
		t.Errorf("the report does not have every verdict: %+v", c)
	}
	texts := make(map[string]string)
	for name, f := range map[string]func(*conformance.Report, io.Writer) error{
		"brief": brief, "verbose": verbose, "json": (*conformance.Report).WriteJSON, "junit": (*conformance.Report).WriteJUnit,
	} {
		texts[name] = write(t, r, f)
		for _, secret := range []string{testKey, testKey[:len(testKey)-8], "\x00", "\x1b"} {
			if i := strings.Index(texts[name], secret); i >= 0 {
				t.Errorf("%s has %q: …%s…", name, secret, texts[name][max(0, i-80):min(len(texts[name]), i+80)])
			}
		}
	}
	t.Run("brief", func(t *testing.T) {
		wantParts(t, texts["brief"],
			"FAIL pets.create.status.absent [section 2.1]: a valid pet is added: the response is 200 OK, want 201 Created\n",
			"FAIL errors.object [section 2.5, 7]: the body of a 400 is not an Error: the body is not JSON: from byte ",
			"; seen in: a 400 for POST /pets; ", "a 404 for GET /pets/{petId}; ", "; a 401 for GET /pets",
			"FAIL deprecation.sunset.date [section 4.3, 9]: the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030\n",
			"\nWARN deprecation.deprecation.present [section RFC 9745, 2 and 4]: Deprecation is missing, want a date before the removal",
			"\n  section 1, 4.2: POST /pets with a valid pet responds 201\n  curl -i ",
			"\n  < 200 OK\n",
			"\n-v shows every failed check with its curl command\n",
			fmt.Sprintf("\nnot conformant: %d checks: %d passed, %d failed, ", len(r.Results), c[conformance.Pass], c[conformance.Fail]))
		if n := strings.Count(texts["brief"], "\n"); n > 39 {
			t.Errorf("%d lines:\n%s", n, texts["brief"])
		}
	})
	t.Run("verbose", func(t *testing.T) {
		for _, result := range r.Results {
			if result.Verdict != conformance.Pass && !strings.Contains(texts["verbose"], result.ID) {
				t.Errorf("the verbose text does not name %s (%s)", result.ID, result.Verdict)
			}
		}
		if n := strings.Count(texts["verbose"], "\n  curl ") + strings.Count(texts["verbose"], "\n  printf "); n < c[conformance.Fail]+c[conformance.Warn] {
			t.Errorf("the verbose text has %d curl commands for %d failures and %d warnings", n, c[conformance.Fail], c[conformance.Warn])
		}
	})
	t.Run("json", func(t *testing.T) {
		var got conformance.Report
		if err := json.Unmarshal([]byte(texts["json"]), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(texts["json"], write(t, &got, (*conformance.Report).WriteJSON)); diff != "" {
			t.Errorf("read and written again (-want +got):\n%s", diff)
		}
		if got.Format != "petstore-conformance/1" || got.Conclusion != conformance.NotConformant || len(got.Results) != len(r.Results) {
			t.Errorf("the format is %q, the conclusion %q, with %d results", got.Format, got.Conclusion, len(got.Results))
		}
	})
	t.Run("junit", func(t *testing.T) {
		failures := regexp.MustCompile(`<failure message="[^"]+" type="[^"]+">[^<]+</failure>`).FindAllString(texts["junit"], -1)
		wantParts(t, texts["junit"], fmt.Sprintf(` tests="%d" failures="%d" errors="0" skipped="%d" `, len(r.Results), c[conformance.Fail], c[conformance.Skip]))
		if skipped := strings.Count(texts["junit"], "<skipped "); len(failures) != c[conformance.Fail] || skipped != c[conformance.Skip] {
			t.Errorf("%d failures, %d skipped", len(failures), skipped)
		}
		xmllint := process.Tool(t, "xmllint")
		file := filepath.Join(t.TempDir(), "junit.xml")
		process.WriteFile(t, file, []byte(texts["junit"]))
		if code, _, stderr := process.Run(t, process.Command("", xmllint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", file)); code != 0 {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
	})
}

// No report shows the key, or a part of it, wherever a target echoes it.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	const key, notID = testKey, fetch + "abc "
	statusLine := raw("HTTP/1.1 " + key + " OK\r\n\r\n")
	body := func(body string) wrapper { return responses(notID, 0, func(res *response) { res.body = body }) }
	for _, tt := range []struct {
		name, check string
		http        wrapper
	}{
		{"the status line of the first response", "", where(list, statusLine)},
		{"a status line", "http.response", where(notID, statusLine)},
		{"a response that is cut short", "http.response", where(notID, raw("HTTP/1.1 404 Not Found\r\nX-Key: "+key+"\r\nContent-Length: 99\r\n\r\nno "+key[:30]))},
		{"a name that is cut", "pets.create.name", set(create, 201, "name", `"`+strings.Repeat("a", 50)+key+`"`)},
		{"a body that is not JSON after it", "errors.any", body(`{"a":"` + key + `"` + strings.Repeat(" ", 20) + `"}`)},
		{"a body that is not JSON before it", "errors.any", body(`{"a":"a" ` + strings.Repeat(" ", 20) + `"` + key + `"}`)},
		{"a body that is not JSON because of it", "errors.any", body(strings.Repeat(" ", 60) + key)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http, until: tt.check})
			if tt.check != "" && result(t, r, tt.check).Violations == 0 {
				t.Fatalf("%s does not fail:\n%s", tt.check, text(r))
			}
			for _, f := range []func(*conformance.Report, io.Writer) error{verbose, (*conformance.Report).WriteJSON, (*conformance.Report).WriteJUnit} {
				out := write(t, r, f)
				for part := key[len("Conformance_"):]; len(part) >= 6; part = part[1:] {
					if i := strings.Index(out, part[:6]); i >= 0 {
						t.Fatalf("a report has a part of the key: %s", out[max(0, i-200):i+40])
					}
				}
			}
		})
	}
}

// A key that is a part of what is judged does not change a verdict.
func TestKeyOfTheContract(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"application/json", "12345678901234567890", `,"status":"sold"}`} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{target: func(target *conformance.Target) { target.Key = key }, http: requests("", func(r *http.Request) {
				r.Header.Set("Authorization", strings.ReplaceAll(r.Header.Get("Authorization"), key, testKey))
			})})
			if r.Counts[conformance.Pass] != len(r.Results) {
				t.Error(text(r))
			}
		})
	}
}

// A report about a target that is not judged has an error for those who read JUnit.
func TestReportNotJudged(t *testing.T) {
	r := &conformance.Report{Conclusion: conformance.NotJudged, Reason: "the target refuses every pet"}
	wantParts(t, write(t, r, brief), "the target refuses every pet\n", "\nnot judged: ")
	wantParts(t, write(t, r, (*conformance.Report).WriteJUnit), ` errors="1"`, `<error message="the target refuses every pet"`)
}
