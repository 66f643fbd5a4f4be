package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
)

// telltale is broken in many ways, and echoes the key in every form that
// comes to mind, along with what could upset a page or a terminal.
func telltale() variant {
	return variant{name: "telltale", http: func(next http.Handler) http.Handler {
		loud := answers("", func(a *answer) {
			got := a.request.Header.Get("Authorization")
			a.header.Set("X-Got", got)
			a.header.Set("X-Key", base64.StdEncoding.EncodeToString([]byte(testKey)))
			a.header.Set("X-Lower", strings.ToLower(testKey))
			if a.status >= 400 {
				a.body = []byte(`{"message":"</script><script>alert(1)</script> \u001b[31m bad key ` + got + `","got":"` + got + "\x1b[31m\x00" + `"}`)
			}
			if a.status == 201 {
				a.status = 200
			}
		})
		return loud(header(fetch, 200, "Sunset", "Wed, 05 Dec 2029 00:00:00 GMT")(header(fetch, 200, "Deprecation", "")(next)))
	}}
}

// everyVerdict is a report with every verdict in it.
func everyVerdict(t *testing.T) *conformance.Report {
	t.Helper()
	id := int64(1)
	v := telltale()
	v.pets = filled(5)
	slow := answers(submit, func(a *answer) { a.status = 503 })
	inner := v.http
	v.http = func(next http.Handler) http.Handler { return inner(slow(next)) }
	return run(t, v, conformance.Options{
		Skip: []string{"auth.list.*"}, Pet: &id, Seed: 5,
		Known: []conformance.Known{
			{ID: "pets.create.status", Reason: "200 <for> \"now\""},
			{ID: "pets.list.status", Reason: "it was broken once"},
		},
	})
}

func write(t *testing.T, r *conformance.Report, f conformance.Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportsHideTheKey(t *testing.T) {
	r := everyVerdict(t)
	r.Verbose = true
	c := r.Counts
	if c.Pass == 0 || c.Fail == 0 || c.Warn == 0 || c.Skip == 0 || c.Inconclusive == 0 || c.Errored == 0 || c.Known == 0 || c.Stale == 0 {
		t.Errorf("the report is to have every verdict: %+v", c)
	}
	secrets := []string{
		testKey, testKey[:len(testKey)-1], strings.ToLower(testKey), strings.ToUpper(testKey),
		base64.StdEncoding.EncodeToString([]byte(testKey)), base64.RawURLEncoding.EncodeToString([]byte(testKey)),
	}
	for _, f := range conformance.Formats() {
		out := write(t, r, f)
		for _, secret := range secrets {
			if i := strings.Index(strings.ToLower(out), strings.ToLower(secret)); i >= 0 {
				t.Errorf("%s has the key: …%s…", f, out[max(0, i-80):min(len(out), i+80)])
			}
		}
		if strings.ContainsAny(out, "\x00") || f != conformance.ANSI && strings.Contains(out, "\x1b") {
			t.Errorf("%s has control characters of the target", f)
		}
		if f == conformance.HTML && strings.Contains(out, "<script>alert") {
			t.Error("the page runs what the target sends")
		}
	}
	if err := r.Write(&bytes.Buffer{}, "pdf"); err == nil {
		t.Error("a format that there is not is written")
	}
}

// The JSON report reads back as the report that it was.
func TestJSON(t *testing.T) {
	r := everyVerdict(t)
	var back conformance.Report
	if err := json.Unmarshal([]byte(write(t, r, conformance.JSON)), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(write(t, r, conformance.JSON), write(t, &back, conformance.JSON)); diff != "" {
		t.Errorf("read and written again (-want +got):\n%s", diff)
	}
	if back.Format != "petstore-conformance/1" || back.Outcome != conformance.NotConformant || len(back.Results) != len(conformance.Checks()) {
		t.Errorf("the format is %q, the outcome %q, with %d results", back.Format, back.Outcome, len(back.Results))
	}
}

func TestJUnit(t *testing.T) {
	r := everyVerdict(t)
	out := write(t, r, conformance.JUnit)
	type problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string   `xml:"name,attr"`
				Failure *problem `xml:"failure"`
				Error   *problem `xml:"error"`
				Skipped *problem `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	c := r.Counts
	want := []int{len(r.Results), c.Fail + c.Stale, c.Errored, c.Skip + c.Inconclusive + c.Known}
	if diff := cmp.Diff(want, []int{doc.Tests, doc.Failures, doc.Errors, doc.Skipped}); diff != "" {
		t.Errorf("tests, failures, errors, skipped (-want +got):\n%s", diff)
	}
	failures := 0
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
				if c.Failure.Message == "" || c.Failure.Text == "" {
					t.Errorf("%s: the failure says %q and %q", c.Name, c.Failure.Message, c.Failure.Text)
				}
			}
		}
	}
	if failures != doc.Failures {
		t.Errorf("%d failures, and the count says %d", failures, doc.Failures)
	}

	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("xmllint is not installed")
		}
		t.Skip("the schema is not checked: xmllint is not installed")
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(xmllint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every curl line of a run sends the request that it stands beside: it gets
// the answer that the run got.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is not installed")
		}
		t.Skip("curl is not installed")
	}
	target := newServer(t, variant{})
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Run: []string{
		"auth.list.*", "auth.create.*", "pets.create.400.*", "messages.400.*", "pets.create.name.*", "http.*", "pets.list.limit.above",
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, result := range r.Results {
		if len(result.Exchanges) == 0 {
			continue
		}
		x := result.Exchanges[len(result.Exchanges)-1]
		cmd := exec.Command("bash", "-c", x.Curl)
		cmd.Env = append(os.Environ(), "PETSTORE_API_KEY="+target.Key)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", result.ID, err, x.Curl)
			continue
		}
		n++
		line, _, _ := strings.Cut(string(out), "\r\n")
		if fields := strings.Fields(line); len(fields) < 2 || fields[1] != strconv.Itoa(x.Status) {
			t.Errorf("%s: the run got %d, and curl %q: %s", result.ID, x.Status, line, x.Curl)
		}
	}
	if n < 80 {
		t.Errorf("only %d lines were tried", n)
	}
}
