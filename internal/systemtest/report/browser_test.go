package report

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium with one page.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts a browser. The test fails if the page throws an exception,
// violates its policy, or requests another resource.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true)))
	t.Cleanup(cancel)
	b := &browser{t, ctx}
	if _, err := chromedp.Run(ctx, chromedp.Title()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("this needs chromium: ", err)
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page has an error: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			t.Errorf("the page has an error: %+v", e.Entry)
		case *network.EventRequestWillBeSent:
			if e.Type != network.ResourceTypeDocument {
				t.Errorf("the page loads %s", e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

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
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// eval returns the value of an expression in the page.
func eval[T any](b *browser, format string, args ...any) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(format, args...), chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// click clicks in the middle of the first element that a selector finds, as a
// mouse does.
func (b *browser) click(selector string) {
	b.t.Helper()
	at := eval[struct{ X, Y float64 }](b, `(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return {X: r.x + r.width / 2, Y: r.y + r.height / 2};
	})()`, selector)
	b.do(chromedp.MouseClickXY(at.X, at.Y))
}

// search puts a text into the field for searches.
func (b *browser) search(text string) {
	b.t.Helper()
	eval[any](b, `(() => {
		const field = document.querySelector("input[type=search]");
		field.value = %q;
		field.dispatchEvent(new Event("input"));
	})()`, text)
}
