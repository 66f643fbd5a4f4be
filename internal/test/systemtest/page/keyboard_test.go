package page

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"example.com/animalstore/internal/test/systemtest/browser"
)

// tabTo presses the tab key until an element has the focus. Each element on the way
// must show its focus.
func (p *page) tabTo(selector string) {
	p.t.Helper()
	for range 200 {
		p.Press(kb.Tab)
		at := browser.Eval[struct {
			Found, Visible bool
			Name           string
		}](p.Browser, `(() => {
			const e = document.activeElement;
			const seen = e.type === "radio" ? e.nextElementSibling : e;
			return {Found: e.matches(%q), Visible: e === document.body || getComputedStyle(seen).outlineStyle !== "none", Name: e.outerHTML.slice(0, 80)};
		})()`, selector)
		if !at.Visible {
			p.t.Errorf("the focus is invisible on %s", at.Name)
		}
		if at.Found {
			return
		}
	}
	p.t.Fatalf("the tab key does not reach %s", selector)
}

// TestKeyboard: the page can be used without a mouse.
func TestKeyboard(t *testing.T) {
	p := newPage(t, 1200, "light")
	p.fill(3)
	p.tabTo(".skip")
	p.tabTo("#key-field")
	p.Press(p.server.Key + kb.Enter)
	p.shows("[data-fact=pets]", "3")

	p.tabTo("#filter input")
	p.Press(kb.ArrowLeft) // from the first to the last
	p.lists(3, 3, 1)
	p.tabTo("#list button")
	p.Press(kb.Enter)
	p.shows("#json pre", `"id": 3`)
	p.Press(kb.Escape)
	p.hides("#json")
	p.Until(`document.activeElement.matches("#list button")`)
	p.tabTo("#add-name")
	p.Press("Rex" + kb.Tab + "4" + kb.Tab + "s" + kb.Tab + kb.Enter) // the first letter chooses a status
	p.lists(1, 4, 1)

	p.open("#pets")
	p.tabTo(`[href="#api"]`)
	p.Press(kb.Enter)
	p.Until(`document.activeElement.matches("#api h1")`)
	p.tabTo(`[href="#getPet"]`)
	p.Press(kb.Enter)
	p.Until(`document.activeElement.id === "getPet" && scrollY > 0`)
	p.tabTo("#getPet summary")
	p.Press(kb.Enter)
	p.shows("#getPet .response[open]", "Sunset")
	p.tabTo("#getPet-petId")
	p.Press(kb.End + "2" + kb.Enter)
	p.shows("#getPet .result", "401 Unauthorized")
}
