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
// everything that the page offers. On the way axe-core finds nothing, nothing is wider than
// the window, and no word is broken.
func TestJourney(t *testing.T) {
	code, stdout, stderr := process.Run(t, process.Command("npm", process.Tool(t, "npm"), "ci", "--prefer-offline"))
	if code != 0 {
		t.Fatalf("npm ci: exit code %d\n%s%s", code, stdout, stderr)
	}
	for scheme, width := range map[string]int64{"dark": 320, "light": 1200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := newPage(t, width, scheme)
			p.fill(70)
			p.enterKey()
			p.browse()
			p.add()
			p.tryAPI()
			p.loseKey()
			p.server.Kill()
			p.enter("#key-field", p.server.Key+"\r")
			p.shows("#problem", "The server does not respond")
		})
	}
}

// check looks for what axe-core finds, for what is too wide, and for words on two lines.
func (p *page) check(state string) {
	p.t.Helper()
	browser.Eval[any](p.Browser, "%s", string(process.ReadFile(p.t, "npm/node_modules/axe-core/axe.min.js"))+"; undefined")
	for _, violation := range browser.Eval[[]string](p.Browser, `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).slice(0, 3).join("; ")))`) {
		p.t.Errorf("%s: %s", state, violation)
	}
	if over := browser.Eval[int64](p.Browser, `document.documentElement.scrollWidth`) - p.width; over > 0 {
		p.t.Errorf("%s: the page is %d pixels too wide", state, over)
	}
	if broken := browser.Eval[[]string](p.Browser, `(() => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange(), broken = [];
		while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/no status|\w+/g)) {
			range.setStart(texts.currentNode, word.index);
			range.setEnd(texts.currentNode, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) broken.push(word[0]);
		}
		return broken;
	})()`); len(broken) > 0 {
		p.t.Errorf("%s: these words are broken: %q", state, broken)
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
	p.shows("#key-field-error", "unknown API key")
	p.hides("#unlocked")
	p.check("a wrong key")
	p.unlock()
	p.hides("#locked")
	const kept = `document.querySelector("#key-field").value + document.cookie + location.href + JSON.stringify([localStorage, history.state, sessionStorage])`
	if got := browser.Eval[string](p.Browser, kept); strings.Count(got, p.server.Key) != 1 || !strings.HasSuffix(got, `,{"api-key":"`+p.server.Key+`"}]`) {
		p.t.Errorf("the key is kept elsewhere than in the session: %s", got)
	}
}

func (p *page) browse() {
	p.lists(1, 20, 1)
	p.shows("#shown", "All pets: 1 to 20")
	p.picture("page-pets.png")
	const findAt = `JSON.stringify(document.querySelector("#find-id").getBoundingClientRect())`
	at := browser.Eval[string](p.Browser, findAt)
	p.Click(`#filter [href$=sold]`)
	p.lists(3, 60, 3)
	if moved := browser.Eval[string](p.Browser, findAt); moved != at {
		p.t.Errorf("Find moves from %s to %s when a filter is chosen", at, moved)
	}
	p.Click(".next")
	p.lists(63, 69, 3)
	p.Until(`document.activeElement.matches(".next[aria-disabled=true]")`)
	p.Do(chromedp.Reload())
	p.lists(63, 69, 3)
	p.shows("#filter [aria-current]", "Sold")
	p.Click(`#filter [href$=pending]`)
	p.shows("#shown", "No pet is pending")
	p.Click(`#filter [href$=pets]`)
	p.lists(1, 20, 1)

	// Previous and Back go back in the history, and the address leads others there.
	p.Click(".next")
	p.lists(21, 40, 1)
	p.Click("#list ~ .pages .next")
	p.lists(41, 60, 1)
	p.Click(".previous")
	p.lists(21, 40, 1)
	p.Do(chromedp.Reload())
	p.lists(21, 40, 1)
	p.Click(".previous")
	p.lists(1, 20, 1)
	p.Until(`document.querySelector(".previous").ariaDisabled === "true"`)
	p.Do(chromedp.NavigateBack())
	p.shows("#shown", "No pet is pending")
	p.Do(chromedp.NavigateForward(), chromedp.NavigateForward())
	p.lists(21, 40, 1)
	p.open(browser.Eval[string](p.Browser, `location.hash`))
	p.unlock()
	p.lists(21, 40, 1)

	// What is wrong with an ID is said below the field, and the list stays.
	p.enter("#find-id", "71\r")
	p.shows("#find-id-error", "no pet has this id")
	p.enter("#find-id", "x\r")
	p.shows("#find-id-error", "An ID is a number")
	p.lists(21, 40, 1)
	p.enter("#find-id", " 045\r")
	p.lists(45, 45, 1)
	p.open("#pets/21")
	p.unlock()
	p.lists(21, 21, 1)

	// Trying again is offered where it may help.
	p.open("#pets?status=x")
	p.unlock()
	p.shows("#problem", "status: ")
	p.hides("#problem button")
	for status, failure := range map[string]string{"sold": `Promise.reject()`, "pending": `Promise.resolve(new Response('{"message":"stopping"}', {status: 503}))`} {
		browser.Eval[any](p.Browser, `{ const own = fetch; fetch = () => (fetch = own, %s) }`, failure)
		p.Click("#filter [href$=" + status + "]")
		p.Click("#problem button")
		p.hides("#problem button")
	}
}

func (p *page) add() {
	invalid := func(field, message string) {
		p.t.Helper()
		p.shows(field+"-error", message)
		p.Until(`document.activeElement.matches(%q) && document.activeElement.ariaInvalid === "true"`, field)
	}
	p.Click("#add [type=submit]")
	invalid("#add-name", "Name is missing")
	p.shows("#add-categoryId-error", "Category is missing")
	p.check("the pets")
	p.enter("#add-name", "<b>Rex & \"Co\"")
	p.hides("#add-name-error")
	p.shows("#add-categoryId-error", "Category is missing")
	p.Press("\r")
	invalid("#add-categoryId", "Category is missing")
	p.shows("[for=add-name]", "required")
	p.shows("[for=add-categoryId]", "required a whole number")
	for _, wrong := range []string{"cats", "1.5", "9223372036854775808"} {
		p.enter("#add-categoryId", wrong+"\r")
		invalid("#add-categoryId", "Category must be a 64-bit integer")
	}
	p.enter("#add-categoryId", "-9223372036854775808\tp\t\r") // the first letter chooses a status
	p.shows("#added", "Pet 71 was added")
	p.Click("#added a")
	p.lists(71, 71, 1)
	p.shows("#list .name", `<b>Rex & "Co"`)
	p.shows("#list", "-9223372036854775808")
	p.shows("#list .status", "pending")
	p.check("a pet")
	if r := p.server.Must(200, "GET", "/pets/71", ""); r.Body != `{"id":71,"name":"<b>Rex & \"Co\"","categoryId":-9223372036854775808,"status":"pending"}` {
		p.t.Errorf("stored: %s", r.Body)
	}
}

func (p *page) tryAPI() {
	p.Click(`[href="#api"]`)
	p.shows("#getPet .notice", "removal on 5 December 2030; use listPets")
	p.shows(`[aria-label="getPet: curl"]`, "/v1/pets/1'")
	p.Click("#getPet .try [type=submit]")
	p.shows("#getPet .result", "200 OK")
	p.enter("#listPets-limit", "0\r")
	p.shows("#listPets .result", "limit: must be an integer from 1 to 100")
	p.Until(`document.querySelector("#listPets .result").getBoundingClientRect().bottom < innerHeight + 1`)
	p.enter("#createPet-body", `{"name":"Rex","categoryId":1234567890123456789}`)
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "201 Created")
	p.shows("#createPet .result pre", `"categoryId": 1234567890123456789`)

	// The commands run, and send the request of the form.
	p.enter("#createPet-body", `{"name":"it's \"5 €\" \\ $HOME","categoryId":7}`)
	p.enter("#getPet-petId", "73")
	p.enter("#listPets-limit", "1")
	for _, c := range []struct{ id, want string }{
		{"createPet", `{"id":73,"name":"it's \"5 €\" \\ $HOME","categoryId":7}`},
		{"getPet", `{"id":73,"name":"it's \"5 €\" \\ $HOME","categoryId":7}`},
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

	// What was created there is in the list.
	p.Click(`.views [href="#pets"]`)
	p.enter("#find-id", "72\r")
	p.lists(72, 72, 1)
	p.check("a pet without a status")
}

// loseKey: what the page showed with the key is gone when the user or the server forgets
// it, and a response that comes later is not shown.
func (p *page) loseKey() {
	p.Click(`.views [href="#pets"]`)
	const shown = `document.querySelector("#list tbody").textContent + document.querySelector("#shown").textContent`
	browser.Eval[any](p.Browser, `document.querySelector("#listPets .try [type=submit]").click(); document.querySelector("#forget").click()`)
	p.shows("#locked", "API key")
	p.Until(`document.querySelector("#listPets .result").textContent.includes("forgotten")`)
	if left := browser.Eval[string](p.Browser, shown+"+sessionStorage.length"); left != "0" {
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
	p.shows("#key-field-error", "unknown API key")
	if left := browser.Eval[string](p.Browser, shown); left != "" {
		p.t.Errorf("it still shows %q", left)
	}
}
