package report

import (
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
)

// hostile are texts that would break out of Markdown, or make something of it that
// the target should not make.
var hostile = []string{
	"a | b || c \\| d \\\\| e",
	"` `` ``` ```` `",
	"```\n</details>\n# heading",
	"</code></td></tr></table></summary></details><script>alert(1)</script>",
	"<img src=x> ![x](http://x.test/x.png) [x](http://x.test) http://x.test www.x.test x@x.test @x #1 :x:",
	"*a* _b_ ~~c~~ $d$ &lt; &#124; \\",
	"\r\n\r\n# heading\r\n\r\n| a |\r\n|---|",
	strings.Repeat("`", 500),
	"\u2028\u0085\u0000\t\x1b[31m",
}

// hostileReport returns a report with more of everything than fits into a comment.
func hostileReport() *conformance.Report {
	r := &conformance.Report{
		Format: conformance.ReportFormat, Outcome: conformance.NotConformant, Level: conformance.Required,
		Implementation: strings.Join(hostile, ""), URL: "http://" + hostile[0], Retries: map[string]int{},
	}
	verdicts := []conformance.Verdict{conformance.Fail, conformance.Warn, conformance.Errored, conformance.Inconclusive, conformance.Pass, conformance.Skip}
	for i := range 240 {
		text := hostile[i%len(hostile)] + strings.Repeat(string(rune('a'+i%26)), 1+i/26) + strings.Repeat(hostile[i%len(hostile)], 40)
		r.Retries[text] = i
		long := strings.Repeat(text+"\n", 50)
		result := conformance.Result{
			Check: conformance.Check{ID: hostile[3] + text, Clause: "create"}, Verdict: verdicts[i%len(verdicts)], Message: text,
			Exchanges: []conformance.Exchange{{Method: "POST", URL: text, RequestBody: long, ResponseBody: long, Status: 200, Curl: "curl " + strings.Repeat("`", maxCurl-5)}},
		}
		if result.Stale = result.Verdict == conformance.Pass; result.Stale {
			result.Known = text
		}
		r.Results = append(r.Results, result)
	}
	return r
}

// wantComment tests that text is Markdown that fits into a comment, with tables of
// this many rows, and returns it as HTML.
func wantComment(t *testing.T, text string, rows int) string {
	t.Helper()
	if n := strings.Count(text, "\n"); n > 60 || len(text) > 65_536 {
		t.Errorf("%d lines with %d bytes", n, len(text))
	}
	cmd := process.Command("", process.Tool(t, "cmark-gfm"), "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough")
	cmd.Stdin = strings.NewReader(text)
	code, html, stderr := process.Run(t, cmd)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, tag := range []string{"<a ", "<script", "<img", "<h1", "<em", "<strong", "<del"} {
		if strings.Contains(html, tag) {
			t.Errorf("the page has %s", tag)
		}
	}
	if n := strings.Count(html, "<tr>"); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
	for tag, want := range map[string]int{"<h2>": 1, "<details>": strings.Count(text, "\n<details>\n"), "</details>": strings.Count(text, "\n</details>\n")} {
		if n := strings.Count(html, tag); n != want {
			t.Errorf("%d times %s, want %d", n, tag, want)
		}
	}
	if t.Failed() {
		t.Logf("%.20000s\n%.20000s", text, html)
	}
	return html
}

func TestMarkdown(t *testing.T) {
	r := newLeakyReport(t)
	out := write(t, r, Markdown, nil)
	wantParts(t, out, []string{
		"## ✕ Petstore conformance: not conformant\n",
		"\n| fail | ` the Sunset is \"Wed, 05 Dec 2029 00:00:00 GMT\", and the contract says 5 December 2030 ` | 4.3, 9 | ` deprecation.sunset.date ` |\n",
		"\n| warn | ",
		"\n| error | ",
		"\n| inconclusive | ",
		"\n| stale | ` known to fail, but passed; must be removed from the list of known failures ` |  | ` pets.list.status ` |\n",
		"\nRequests were sent again after: ` 503 Service Unavailable (",
		"\n<summary>the first failure: <code>errors.400.code</code></summary>\n",
		"\n    curl -i ",
		"\n    < HTTP/1.1 ",
	}, nil)
	wantComment(t, out, strings.Count(out, "\n| "))
}

// A run without anything to say gets a heading and a line.
func TestMarkdownOfPassed(t *testing.T) {
	r := runSuite(t, testserver.New(5), "/v1", &conformance.Options{Seed: 5, Run: []string{"pets.list.status"}})
	r.Implementation, r.Version = "petstore", "1.2"
	want := fmt.Sprintf("## %s Petstore conformance: %s\n\n` petstore 1.2 %s `, seed 5, %.1f s: ` %s `\n", lookOf(colorOf(r)).Glyph, r.Outcome, r.URL, r.Seconds, r.Summary())
	if out := write(t, r, Markdown, nil); out != want {
		t.Errorf("%s\nwant %s", out, want)
	}
}

func TestMarkdownOfHostileTarget(t *testing.T) {
	html := wantComment(t, write(t, hostileReport(), Markdown, nil), 1+markdownLimits.failures+markdownLimits.warnings+3)
	for _, want := range []string{"a | b || c \\ | d", "&lt;img src=x&gt; ![x](http://x.test/x.png)", "curl ```"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}
