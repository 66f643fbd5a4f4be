package report

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/systemtest/browser"
	"example.com/animalstore/internal/testserver"
)

// newPage runs the suite against a target that has another Sunset and no Location,
// and returns the URL of the HTML report.
func newPage(t *testing.T) string {
	t.Helper()
	h := testserver.Changed(testserver.New(0), func(_ *http.Request, rec *httptest.ResponseRecorder) {
		rec.Header().Del("Location")
		if rec.Header().Get("Sunset") != "" {
			rec.Header().Set("Sunset", "Wed, 05 Dec 2029 00:00:00 GMT")
		}
	})
	srv := httptest.NewServer(h)
	defer srv.Close()
	r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testserver.Key},
		&conformance.Options{Skip: []string{"auth.*"}, Timeout: process.Patience}) // the machine may be busy
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.Write(f, r, report.HTML, nil); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// visible counts the visible elements of a selector.
const visible = `[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility()).length`

// search puts a text into the field for searches.
func search(b *browser.Browser, text string) {
	browser.Eval[any](b, `(() => {
		const field = document.querySelector("input[type=search]");
		field.value = %q;
		field.dispatchEvent(new Event("input"));
	})()`, text)
}

func TestPage(t *testing.T) {
	b := browser.New(t, "")
	b.Look(1200, 900, "light")
	b.Do(chromedp.Navigate(newPage(t)))

	if heading := browser.Eval[string](b, `document.querySelector("h1").textContent`); heading != "not conformant" {
		t.Errorf("the heading is %q", heading)
	}
	count := func(selector string, want int) {
		t.Helper()
		if got := browser.Eval[int](b, visible, selector); got != want {
			t.Errorf("%d of %s are visible, want %d", got, selector, want)
		}
	}
	count(".problems li", 2)
	count(".check.fail .exchange", 1) // a failure shows its proof
	count(".check.pass .exchange", 0)

	// The buttons filter by verdict.
	b.Click(`nav [data-show="warn"]`)
	count(".check", 1)
	count(".check.warn", 1)
	count(".untestable", 0)
	b.Click(`nav [data-show="skip"]`)
	count(".check", 7)
	b.Click(`nav [data-show="pass"]`)
	count(".check.fail", 0)
	count(".problems li", 0)
	b.Click(`nav [data-show=""]`)
	count(".problems li", 2)

	// The search finds IDs, titles and clauses, and reports if it finds none.
	search(b, "pets.create.400")
	count(".check", 7)
	search(b, "unicorn")
	count(".check", 0)
	count(".nothing", 1)
	search(b, "scheduled for removal")
	count(".nothing", 0)
	search(b, "")
	count(".problems li", 2)

	// Clauses and transcripts fold.
	b.Click(`.clause:not([open]) > summary`)
	b.Click(`.clause[open] > .check.pass > summary`)
	transcript := browser.Eval[string](b, `document.querySelector(".check.fail .exchange pre").innerText`)
	if !strings.Contains(transcript, "Authorization: Bearer [key]") || !strings.Contains(transcript, "HTTP/1.1 ") {
		t.Errorf("the transcript is %q", transcript)
	}
	b.Click(`.check.fail .copy`)
	b.Until(`document.querySelector(".check.fail .copy").textContent !== "copy"`)

	// A problem links to its check.
	b.Click(`.problems a`)
	b.Until(`(() => { const r = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.getBoundingClientRect(); return r?.height > 0 && r.top >= 0 && r.top < innerHeight; })()`)
}

// Nothing overflows, on a phone's width too.
func TestLooks(t *testing.T) {
	b := browser.New(t, "")
	page := newPage(t)
	for _, width := range []int64{375, 1200} {
		b.Look(width, 900, "light")
		b.Do(chromedp.Navigate(page))
		browser.Eval[any](b, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
		if over := browser.Eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%d wide: the page is %d pixels too wide", width, over)
		}
	}
}
