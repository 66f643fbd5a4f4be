package systemtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/animalstore/internal/test/process"
)

// browser is a headless Chromium with one page.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts a browser that ends with the test. The test fails, and its next step
// ends it, if the page throws an exception, logs an error, violates its policy, or requests
// a resource elsewhere than below the URL own. There, requests may be refused with a status
// of the 400s or with the connection.
func newBrowser(t *testing.T, own string) *browser {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*process.Patience)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(process.Patience)))
	t.Cleanup(cancel)
	if _, err := chromedp.Run(ctx, chromedp.Title()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("this needs chromium: ", err)
	}
	fail := func(format string, args ...any) {
		t.Errorf(format, args...)
		stop()
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			fail("line %d of the page: %+v", e.ExceptionDetails.LineNumber+1, e.ExceptionDetails.Exception)
		case *runtime.EventConsoleAPICalled:
			fail("the page logs %s: %v", e.Type, e.Args)
		case *log.EventEntryAdded:
			refused := strings.Contains(e.Entry.Text, "status of 4") || strings.Contains(e.Entry.Text, "ERR_CONNECTION_REFUSED")
			if !refused || !strings.HasPrefix(e.Entry.URL, own) {
				fail("the page has an error: %+v", e.Entry)
			}
		case *network.EventRequestWillBeSent:
			if e.Type != network.ResourceTypeDocument && !strings.HasPrefix(e.Request.URL, own) {
				fail("the page loads %s", e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, ctx}
}

// do carries out steps.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// look sets the size of the window in CSS pixels, and light or dark.
func (b *browser) look(width, height int64, scheme string) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 500 {
		options = append(options, chromedp.EmulateMobile)
	}
	b.do(chromedp.EmulateViewport(width, height, options...), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// eval returns the value of an expression in the page. If that is a promise, eval
// waits for it.
func eval[T any](b *browser, format string, args ...any) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](fmt.Sprintf(format, args...), chromedp.EvalAwaitPromise))
}

// until waits until an expression in the page is true. While a page is loaded, there
// may be nothing that could evaluate it.
func (b *browser) until(format string, args ...any) {
	b.t.Helper()
	condition := fmt.Sprintf(format, args...)
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		if err == nil && ok {
			return
		}
		if b.ctx.Err() != nil {
			b.t.Fatal(b.ctx.Err())
		}
		if time.Since(start) > process.Patience {
			b.t.Fatalf("%s: %v; the page says:\n%s", condition, err, eval[string](b, "document.body.innerText"))
		}
	}
}

// click clicks in the middle of the first element that a selector finds, as a
// mouse does, once it is visible there.
func (b *browser) click(selector string) {
	b.t.Helper()
	at := eval[struct{ X, Y float64 }](b, `new Promise((done) => {
		const look = () => {
			const e = document.querySelector(%q);
			e?.scrollIntoView({block: "center", behavior: "instant"});
			const r = e?.getBoundingClientRect();
			const at = r && {X: r.x + r.width / 2, Y: r.y + r.height / 2};
			if (r?.width > 0 && e.contains(document.elementFromPoint(at.X, at.Y))) done(at);
			else setTimeout(look, 10);
		};
		look();
	})`, selector)
	b.do(chromedp.MouseClickXY(at.X, at.Y))
}

// press sends keys to the element that has the focus. The constants of package kb
// name those that are not characters.
func (b *browser) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

func run[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}
