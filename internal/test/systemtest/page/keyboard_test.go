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
			return {Found: e.matches(%q), Visible: e === document.body || getComputedStyle(e).outlineStyle !== "none", Name: e.outerHTML.slice(0, 80)};
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
	p.fill(50)
	p.Press(p.server.Key + kb.Enter)
	p.lists(1, 20, 1)
	p.tabTo(".pages:has(~ #list) .next") // above the list
	p.Press(kb.Enter)
	p.lists(21, 40, 1)
	p.Press(kb.Enter) // the focus stays
	p.lists(41, 50, 1)
	p.tabTo("#list a")
	p.Press(kb.Enter)
	p.lists(41, 41, 1)
	p.tabTo("#add-name")
	p.Press("Rex" + kb.Tab + "4" + kb.Tab + "p" + kb.Tab + kb.Enter) // the first letter chooses a status
	p.shows("#added", "Pet 51 was added")
	p.tabTo(".skip")
	p.Press(kb.Enter)
	p.tabTo("#filter [href$=pending]")
	p.Press(kb.Enter)
	p.lists(51, 51, 1)
	p.Until(`document.activeElement.matches("#filter [aria-current]")`)

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
	p.Press("1" + kb.Enter)
	p.shows("#getPet .result", "401 Unauthorized")
}
