package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
)

// runSuite runs the suite against h, with the messages under a path ("": without).
func runSuite(t *testing.T, h http.Handler, messages string, opts *conformance.Options) *conformance.Report {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	target := conformance.Target{URL: srv.URL + "/v1", Key: testserver.Key}
	if messages != "" {
		target.MessagesURL = srv.URL + messages
	}
	if opts.Timeout == 0 {
		opts.Timeout = 5 * time.Minute // the machine may be busy
	}
	r, err := conformance.Run(t.Context(), target, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// leaky breaks the contract in many ways and echoes the key in many forms, with
// markup and control characters.
func leaky(r *http.Request, rec *httptest.ResponseRecorder) {
	key, header := r.Header.Get("Authorization"), rec.Header()
	header.Del("Deprecation")
	header.Set("X-Got", key)
	header.Set("X-Key", base64.StdEncoding.EncodeToString([]byte(testserver.Key)))
	header.Set("X-Lower", strings.ToLower(testserver.Key))
	if header.Get("Sunset") != "" {
		header.Set("Sunset", "Wed, 05 Dec 2029 00:00:00 GMT")
	}
	switch {
	case r.URL.Path == "/v1/messages":
		rec.Code = http.StatusServiceUnavailable
	case rec.Code == http.StatusCreated:
		rec.Code = http.StatusOK
	}
	if rec.Code >= 400 {
		rec.Body = bytes.NewBufferString(`{"message":"</script><script>alert(1)</script> \u001b[31m bad key ` + key + `","got":"` + key + "\x1b[31m\x00" + `"}`)
	}
}

// newLeakyReport returns a report on a leaky server.
func newLeakyReport(t *testing.T) *conformance.Report {
	t.Helper()
	return runSuite(t, testserver.Changed(testserver.New(5), leaky), "/v1", &conformance.Options{
		Skip: []string{"auth.list"},
		Known: []conformance.Known{
			{ID: "pets.create.status", Reason: "200 <for> \"now\""},
			{ID: "pets.list.status", Reason: "it was broken once"},
		},
	})
}

func write(t *testing.T, r *conformance.Report, f Format, opts *Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, f, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportsHideTheKey(t *testing.T) {
	r := newLeakyReport(t)
	c := r.Counts
	if c.Pass == 0 || c.Fail == 0 || c.Warn == 0 || c.Skip == 0 || c.Inconclusive == 0 || c.Errored == 0 || c.Known == 0 || c.Stale == 0 {
		t.Errorf("the report does not have every verdict: %+v", c)
	}
	secrets := []string{
		testserver.Key, testserver.Key[:len(testserver.Key)-1], strings.ToLower(testserver.Key), strings.ToUpper(testserver.Key),
		base64.StdEncoding.EncodeToString([]byte(testserver.Key)), base64.RawURLEncoding.EncodeToString([]byte(testserver.Key)),
	}
	for _, f := range Formats() {
		out := write(t, r, f, &Options{Verbose: true})
		for _, secret := range secrets {
			if i := strings.Index(strings.ToLower(out), strings.ToLower(secret)); i >= 0 {
				t.Errorf("%s has the key: …%s…", f, out[max(0, i-80):min(len(out), i+80)])
			}
		}
		if strings.Contains(out, "\x00") || strings.Contains(out, "\x1b") {
			t.Errorf("%s has control characters of the target", f)
		}
		if f == HTML && strings.Contains(out, "<script>alert") {
			t.Error("the page has a script of the target")
		}
	}
	if err := Write(&bytes.Buffer{}, r, "pdf", nil); err == nil {
		t.Error("an unknown format is not an error")
	}
}

func TestJSON(t *testing.T) {
	want := write(t, newLeakyReport(t), JSON, nil)
	var r conformance.Report
	if err := json.Unmarshal([]byte(want), &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, write(t, &r, JSON, nil)); diff != "" {
		t.Errorf("read and written again (-want +got):\n%s", diff)
	}
	if r.Format != "petstore-conformance/2" || r.Outcome != conformance.NotConformant || len(r.Results) != len(conformance.Checks()) {
		t.Errorf("the format is %q, the outcome %q, with %d results", r.Format, r.Outcome, len(r.Results))
	}
}

func TestJUnit(t *testing.T) {
	r := newLeakyReport(t)
	out := write(t, r, JUnit, nil)
	var got junitSuites
	if err := xml.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	c := r.Counts
	want := []int{len(r.Results), c.Fail + c.Stale, c.Errored, c.Skip + c.Inconclusive + c.Known}
	if diff := cmp.Diff(want, []int{got.Tests, got.Failures, got.Errors, got.Skipped}); diff != "" {
		t.Errorf("tests, failures, errors, skipped (-want +got):\n%s", diff)
	}
	failures := regexp.MustCompile(`<failure message="[^"]+" type="[^"]+">[^<]+</failure>`).FindAllString(out, -1)
	if len(failures) != got.Failures {
		t.Errorf("%d failures with a message and a text, and the count is %d", len(failures), got.Failures)
	}

	xmllint := process.Tool(t, "xmllint")
	file := filepath.Join(t.TempDir(), "junit.xml")
	process.WriteFile(t, file, []byte(out))
	if code, _, stderr := process.Run(t, process.Command("", xmllint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", file)); code != 0 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
