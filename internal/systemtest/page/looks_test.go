package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/systemtest/browser"
)

// TestLooks: in light and dark, and on a phone, axe-core finds nothing, and
// nothing is wider than the window.
func TestLooks(t *testing.T) {
	code, stdout, stderr := process.Run(t, process.Command("npm", process.Tool(t, "npm"), "ci", "--prefer-offline"))
	if code != 0 {
		t.Fatalf("npm ci: exit code %d\n%s%s", code, stdout, stderr)
	}
	axe := string(process.ReadFile(t, "npm/node_modules/axe-core/axe.min.js"))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1200} {
			t.Run(fmt.Sprintf("%s, %d wide", scheme, width), func(t *testing.T) {
				p := newPage(t)
				p.Look(width, 900, scheme)
				browser.Eval[any](p.Browser, "%s", axe+"; undefined")
				p.checkLooks()
			})
		}
	}
}

// checkLooks takes the page through its states.
func (p *page) checkLooks() {
	check := func(state string) {
		p.t.Helper()
		for _, violation := range browser.Eval[[]string](p.Browser, `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).slice(0, 3).join("; ")))`) {
			p.t.Errorf("%s: %s", state, violation)
		}
		if over := browser.Eval[int](p.Browser, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			p.t.Errorf("%s: the page is %d pixels too wide", state, over)
		}
	}
	p.fill(1, 30)
	p.enter("#key-field", "wrong\r")
	p.shows("#key-error", "unknown")
	check("a wrong key")
	p.unlock()
	p.names(numbers(1, 20, 1)...)
	p.Click("#add [type=submit]")
	p.shows("#add-name-error", "missing")
	check("the pets")
	p.Click("#list button")
	p.shows("#json pre", "name")
	check("a pet's JSON")
	p.Click("#json-close")
	p.Click(`[href="#api"]`)
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "201")
	browser.Eval[any](p.Browser, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
	check("the API")
}

var update = flag.Bool("update", false, "take the pictures in docs again")

// TestPictures takes the pictures in docs if -update is set.
func TestPictures(t *testing.T) {
	if !*update {
		t.Skip("without -update")
	}
	p := newPage(t)
	names := []string{"Bella", "Tom", "Luna", "Rex", "Mia", "Charlie", "Nala", "Oscar", "Coco", "Milo", "Kiki"}
	statuses := []string{`,"status":"available"`, `,"status":"pending"`, "", `,"status":"sold"`, `,"status":"available"`}
	for i, name := range names {
		p.server.Must(201, "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":%d%s}`, name, 1+i*7%5, statuses[i%len(statuses)]))
	}
	save := func(name string) {
		if err := os.WriteFile(filepath.Join("../../../docs", name), p.Picture(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.Look(1200, 760, "light")
	p.open("#pets")
	p.unlock()
	p.enter("#add-name", "Balu\t2\ta\t\r")
	p.names(append(names, "Balu")...)
	browser.Eval[any](p.Browser, `document.activeElement.blur()`)
	save("page-pets.png")

	p.Look(1200, 760, "dark")
	p.Click(`[href="#api"]`)
	p.Click("#getPet .try [type=submit]")
	p.shows("#getPet .result pre", "Bella")
	browser.Eval[any](p.Browser, `document.activeElement.blur(), document.querySelector("#getPet").scrollIntoView()`)
	save("page-api.png")
}
