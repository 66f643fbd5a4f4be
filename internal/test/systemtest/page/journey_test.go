package page

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/systemtest/browser"
)

var update = flag.Bool("update", false, "take the picture in docs again")

// TestJourney: on a phone and on a large screen, in dark and in light, a user does
// everything that the page offers. On the way axe-core finds nothing, and nothing is
// wider than the window.
func TestJourney(t *testing.T) {
	code, stdout, stderr := process.Run(t, process.Command("npm", process.Tool(t, "npm"), "ci", "--prefer-offline"))
	if code != 0 {
		t.Fatalf("npm ci: exit code %d\n%s%s", code, stdout, stderr)
	}
	for scheme, width := range map[string]int64{"dark": 360, "light": 1200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := newPage(t, width, scheme)
			p.fill(50)
			p.enterKey()
			p.browse()
			p.add()
			p.tryAPI()
			p.loseKey()
			p.server.Kill()
			p.enter("#key-field", p.server.Key+"\r")
			p.shows("#key-error", "The server does not respond")
		})
	}
}

// check looks for what axe-core finds, and for what is too wide.
func (p *page) check(state string) {
	p.t.Helper()
	browser.Eval[any](p.Browser, "%s", string(process.ReadFile(p.t, "npm/node_modules/axe-core/axe.min.js"))+"; undefined")
	for _, violation := range browser.Eval[[]string](p.Browser, `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).slice(0, 3).join("; ")))`) {
		p.t.Errorf("%s: %s", state, violation)
	}
	if over := browser.Eval[int](p.Browser, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.t.Errorf("%s: the page is %d pixels too wide", state, over)
	}
}

// picture takes a picture for docs if -update is set.
func (p *page) picture(name string) {
	if *update && browser.Eval[int](p.Browser, `innerWidth`) == 1200 {
		process.WriteFile(p.t, filepath.Join("../../../../docs", name), p.Picture())
	}
}

func (p *page) enterKey() {
	p.hides("#unlocked")
	p.enter("#key-field", "wrong\r")
	p.shows("#key-error", "unknown API key")
	p.hides("#unlocked")
	p.check("a wrong key")
	p.unlock()
	p.hides("#locked")
	const kept = `document.querySelector("#key-field").value + document.cookie + JSON.stringify([localStorage, history.state, sessionStorage])`
	if got := browser.Eval[string](p.Browser, kept); strings.Count(got, p.server.Key) != 1 || !strings.HasSuffix(got, `,{"api-key":"`+p.server.Key+`"}]`) {
		p.t.Errorf("the key is kept elsewhere than in the session: %s", got)
	}
}

func (p *page) browse() {
	p.shows("[data-fact=pets]", "50")
	p.lists(1, 20, 1)
	p.Click("#next")
	p.lists(21, 40, 1)
	p.shows("#shown", "Page 2 of 3")
	p.Click("#last")
	p.lists(41, 50, 1)
	p.Until(`document.querySelector("#next").disabled && document.querySelector("#last").disabled`)
	p.Click("#previous")
	p.lists(21, 40, 1)
	p.Click("#first")
	p.lists(1, 20, 1)

	// Back, forward and a reload keep the place.
	p.Do(chromedp.NavigateBack())
	p.lists(21, 40, 1)
	p.Do(chromedp.Reload())
	p.lists(21, 40, 1)
	p.Do(chromedp.NavigateForward())
	p.lists(1, 20, 1)

	// A pet is found by its ID, and its address leads to it.
	p.enter("#find-id", " 045\r")
	p.Until(`location.hash === "#pet-45" && document.querySelector(".new").id === "pet-45"`)
	p.enter("#find-id", "51\r")
	p.shows("#problem", "There is no pet 51")
	p.enter("#find-id", "x\r")
	p.shows("#problem", "An ID is a number")
	p.open("#pet-21")
	p.unlock()
	p.Until(`document.querySelector(".new")?.id === "pet-21"`)

	p.Click(`#filter [value=sold] + span`)
	p.lists(3, 48, 3)
	p.Until(`document.querySelector("#next").disabled && document.querySelector("#previous").disabled`)
	p.Click(`#filter [value=pending] + span`)
	p.shows("#empty", "No pet is pending")
	p.Click(`#filter [value=""] + span`)
	p.lists(1, 20, 1)
	p.picture("page-pets.png")
}

func (p *page) add() {
	invalid := func(field, message string) {
		p.t.Helper()
		p.shows(field+"-error", message)
		p.Until(`document.activeElement.matches(%q) && document.activeElement.ariaInvalid === "true"`, field)
	}
	p.Click("#add [type=submit]")
	invalid("#add-name", "Name is missing")
	p.check("the pets")
	p.enter("#add-name", "<b>Rex & \"Co\"\r")
	invalid("#add-categoryId", "Category is missing")
	p.hides("#add-name-error")
	for _, wrong := range []string{"cats", "1.5", "9223372036854775808"} {
		p.enter("#add-categoryId", wrong+"\r")
		invalid("#add-categoryId", "Category must be a 64-bit integer")
	}
	p.enter("#add-categoryId", "-9223372036854775808\tp\t\r") // the first letter chooses a status
	p.shows("#added", "Pet 51 was added")
	p.shows(".new .name", `<b>Rex & "Co"`) // on another page of the list
	p.shows(".new", "-9223372036854775808")
	p.shows(".new .status", "pending")
	if r := p.server.Must(200, "GET", "/pets/51", ""); r.Body != `{"id":51,"name":"<b>Rex & \"Co\"","categoryId":-9223372036854775808,"status":"pending"}` {
		p.t.Errorf("stored: %s", r.Body)
	}
	p.Click(".new button")
	p.shows("#json pre", "\"name\": \"<b>Rex & \\\"Co\\\"\",\n  \"categoryId\": -9223372036854775808,\n  \"status\": \"pending\"\n}")
	p.check("a pet's JSON")
	p.Click("#json-close")
	p.hides("#json")
}

func (p *page) tryAPI() {
	p.Click(`[href="#api"]`)
	p.shows("#getPet .notice", "removal on 5 December 2030; use listPets")
	p.Click("#getPet .try [type=submit]")
	p.shows("#getPet .result", "200 OK")
	p.enter("#listPets-limit", "0\r")
	p.shows("#listPets .result", "limit: must be an integer from 1 to 100")
	p.enter("#createPet-body", `{"name":"Rex","categoryId":1234567890123456789}`)
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "201 Created")
	p.shows("#createPet .result pre", `"categoryId": 1234567890123456789`)

	// The commands run, and send the request of the form.
	p.enter("#createPet-body", `{"name":"it's \"5 €\" \\ $HOME","categoryId":7}`)
	p.enter("#getPet-petId", "53")
	p.enter("#listPets-limit", "1")
	for _, c := range []struct{ id, want string }{
		{"createPet", `{"id":53,"name":"it's \"5 €\" \\ $HOME","categoryId":7}`},
		{"getPet", `{"id":53,"name":"it's \"5 €\" \\ $HOME","categoryId":7}`},
		{"listPets", `[{"id":1,"name":"Bella","categoryId":1,"status":"available"}]`},
		{"submitMessage", `"status":"queued"`},
	} {
		line := browser.Eval[string](p.Browser, `document.querySelector("#%s .block pre").textContent`, c.id)
		command := process.Command(p.t.TempDir(), "sh", "-c", line)
		command.Env = append(command.Env, "PETSTORE_API_KEY="+p.server.Key)
		code, stdout, stderr := process.Run(p.t, command)
		if code != 0 || !strings.Contains(stdout, c.want) {
			p.t.Errorf("%s:\n%s\nexit code %d\n%s%s", c.id, line, code, stdout, stderr)
		}
	}
	browser.Eval[any](p.Browser, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
	p.check("the API")
}

// loseKey: what the page showed with the key is gone when the user or the server forgets
// it, and a response that comes later is not shown.
func (p *page) loseKey() {
	p.Click(`.views [href="#pets"]`)
	const shown = `document.querySelector("#list tbody").textContent + document.querySelector("#facts dd").textContent`
	browser.Eval[any](p.Browser, `document.querySelector("#listPets .try [type=submit]").click(); document.querySelector("#forget").click()`)
	p.shows("#locked", "API key")
	p.Until(`document.querySelector("#listPets .result").textContent.includes("forgotten")`)
	if left := browser.Eval[string](p.Browser, shown+"+sessionStorage.length"); left != "…0" {
		p.t.Errorf("it still shows %q", left)
	}

	p.unlock()
	keys := func(args ...string) string {
		code, stdout, stderr := process.Run(p.t, process.Command(p.server.Dir, append([]string{p.program, "keys"}, args...)...))
		if code != 0 {
			p.t.Fatal(stderr)
		}
		return stdout
	}
	keys("revoke", strings.Fields(keys("list"))[3])
	p.server.Until("the key is revoked", func() bool {
		r, err := p.server.Send("GET", "/pets", "")
		return err == nil && r.Status == 401
	})
	p.enter("#add-name", "Rex\t1\r")
	p.shows("#key-error", "unknown API key")
	if left := browser.Eval[string](p.Browser, shown); left != "…" {
		p.t.Errorf("it still shows %q", left)
	}
}
