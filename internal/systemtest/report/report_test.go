package report

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/testserver"
)

var screenshots = flag.String("screenshots", "", "`directory` to keep the screenshots in")

// newPage runs the suite and returns the URL of the HTML report. A broken target
// has another default limit and no Location.
func newPage(t *testing.T, broken bool) string {
	t.Helper()
	h := testserver.New(0)
	if broken {
		good := h
		h = testserver.Changed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); r.Method == "GET" && r.URL.Path == "/v1/pets" && !q.Has("limit") {
				q.Set("limit", "10")
				r.URL.RawQuery = q.Encode()
			}
			good.ServeHTTP(w, r)
		}), func(_ *http.Request, rec *httptest.ResponseRecorder) { rec.Header().Del("Location") })
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testserver.Key},
		&conformance.Options{Seed: 20261121, Skip: []string{"generated.messages.*"}})
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

func TestPage(t *testing.T) {
	b := newBrowser(t)
	b.look(1200, 900, "light")
	b.open(newPage(t, true))

	if heading := eval[string](b, `document.querySelector("h1").textContent`); heading != "not conformant" {
		t.Errorf("the heading is %q", heading)
	}
	count := func(selector string, want int) {
		t.Helper()
		if got := eval[int](b, visible, selector); got != want {
			t.Errorf("%d of %s are visible, want %d", got, selector, want)
		}
	}
	count(".problems li", 3)
	count(".check.fail .exchange", 2) // each failure shows its proof
	count(".check.pass .exchange", 0) // a passing check does not show its exchanges
	keep(t, b, "report-light.png")

	// The buttons filter by verdict.
	b.click(`nav [data-show="warn"]`)
	count(".check", 1)
	count(".check.warn", 1)
	count(".untestable", 0)
	b.click(`nav [data-show="skip"]`)
	count(".check", 2)
	b.click(`nav [data-show="pass"]`)
	count(".check.fail", 0)
	count(".problems li", 0)
	b.click(`nav [data-show=""]`)
	count(".problems li", 3)

	// The search finds IDs, titles and clauses, and reports if it finds none.
	b.click(`input[type=search]`)
	b.typeText("other-case")
	count(".check", 4)
	eval[any](b, `document.querySelector("input[type=search]").select()`)
	b.typeText("unicorn")
	count(".check", 0)
	count(".nothing", 1)
	eval[any](b, `document.querySelector("input[type=search]").select()`)
	b.typeText("Authorization")
	count(".nothing", 0)
	eval[any](b, `(() => { const s = document.querySelector("input[type=search]"); s.value = ""; s.dispatchEvent(new Event("input")); })()`)
	count(".problems li", 3)

	// Clauses and transcripts fold.
	b.click(`.clause:not([open]) > summary`)
	b.click(`.clause[open] > .check.pass > summary`)
	b.click(`.check.pass[open] .more > summary`)
	transcript := eval[string](b, `document.querySelector(".check.pass[open] .exchange pre").innerText`)
	if !strings.Contains(transcript, "Authorization: Bearer [key]") || !strings.Contains(transcript, "HTTP/1.1 ") {
		t.Errorf("the transcript is %q", transcript)
	}
	b.click(`.check.pass[open] .copy`)
	label := eval[string](b, `new Promise((done) => setTimeout(() => done(document.querySelector(".check.pass[open] .copy").textContent), 200))`)
	if label == "copy" {
		t.Error("the button to copy does nothing")
	}

	// A problem links to its check.
	b.click(`.problems a`)
	shown := eval[bool](b, `(() => { const r = document.getElementById(decodeURIComponent(location.hash.slice(1))).getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight; })()`)
	if !shown {
		t.Error("the link to a check does not show it")
	}
}

// The page reads well in light and dark, on a phone's width too: nothing
// overflows, and every text has enough contrast.
func TestLooks(t *testing.T) {
	b := newBrowser(t)
	b.look(1200, 900, "light")
	bad, good := newPage(t, true), newPage(t, false)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{375, 1200} {
			b.look(width, 900, scheme)
			b.open(bad)
			eval[any](b, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
			if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s, %d wide: the page is %d pixels too wide", scheme, width, over)
			}
			if faint := eval[[]string](b, contrast); len(faint) > 0 {
				t.Errorf("%s, %d wide: too faint: %s", scheme, width, faint)
			}
		}
		b.look(375, 812, scheme)
		b.open(bad)
		keep(t, b, "report-phone-"+scheme+".png")
		b.look(1200, 900, scheme)
		b.open(bad)
		keep(t, b, "report-"+scheme+".png")
		eval[any](b, `document.querySelector(".check.fail").scrollIntoView({block: "center"})`)
		keep(t, b, "report-failure-"+scheme+".png")
		b.open(good)
		keep(t, b, "report-conformant-"+scheme+".png")
		eval[any](b, `document.querySelector(".part.open").scrollIntoView()`)
		keep(t, b, "report-open-"+scheme+".png")
	}
}

// contrast returns the texts whose contrast is less than 4.5 to 1 (WCAG 2,
// 1.4.3), once for each kind of element.
const contrast = `(() => {
	const channels = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => {
		const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * x + 0.7152 * y + 0.0722 * z;
	};
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = channels(getComputedStyle(e).backgroundColor);
			if (c.length < 4 || c[3] > 0) return c;
		}
		return [255, 255, 255];
	};
	const faint = new Map();
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
		if (!text || !e.checkVisibility()) continue;
		const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) faint.set(e.tagName + "." + e.className, ratio.toFixed(2) + " " + e.tagName + "." + e.className);
	}
	return [...faint.values()];
})()`

// keep takes a screenshot and writes it to -screenshots, if that is set.
func keep(t *testing.T, b *browser, name string) {
	t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if len(png) < 5000 {
		t.Errorf("%s has only %d bytes: is the page empty?", name, len(png))
	}
	if *screenshots != "" {
		if err := os.WriteFile(filepath.Join(*screenshots, name), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
