package systemtest

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/internal/test/process"
)

var update = flag.Bool("update", false, "take the picture in docs again")

// page is the web page of a reference server, in a browser.
type page struct {
	*browser
	program string
	server  *process.Server
	url     string
	opened  int
}

// TestPage: a user does everything that the page offers. On the way, on a phone in dark and
// on a large screen in light, axe-core finds nothing, and nothing is wider than the window.
func TestPage(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := process.Run(t, process.Command("npm", process.Tool(t, "npm"), "ci", "--prefer-offline"))
	if code != 0 {
		t.Fatalf("npm ci: exit code %d\n%s%s", code, stdout, stderr)
	}
	s := startServer(t)
	url := "http://" + s.Host() + "/"
	p := &page{browser: newBrowser(t, url), program: process.Build(t, refserver), server: s, url: url}
	p.look(1200, 760, "light")
	p.open("")
	p.until(`document.activeElement.id === "key-field"`)
	p.fill(70)
	p.enterKey()
	p.browse()
	p.add()
	p.tryAPI()
	p.loseKey()
	p.server.Kill()
	p.enter("#key-field", p.server.Key+"\r")
	p.shows("#problem", "The server does not respond")
}

// open loads the page again, without a key.
func (p *page) open(fragment string) {
	p.t.Helper()
	eval[any](p.browser, `location.protocol === "http:" && sessionStorage.clear()`)
	p.opened++ // another query, since a new fragment alone loads nothing
	p.do(chromedp.Navigate(fmt.Sprintf("%s?%d%s", p.url, p.opened, fragment)))
	p.until(`location.search === "?%d" && document.querySelector("#description").ariaBusy === "false"`, p.opened)
}

// unlock enters the server's key.
func (p *page) unlock() {
	p.t.Helper()
	p.enter("#key-field", p.server.Key+"\r")
	p.until(`document.querySelector("#unlocked").checkVisibility()`)
}

// enter replaces what is in a field by keys, which may also leave the field.
func (p *page) enter(field, keys string) {
	p.t.Helper()
	p.click(field)
	eval[any](p.browser, `document.querySelector(%q).select()`, field)
	p.press(keys)
}

// shows waits until a text is in the first element that a selector finds, and
// visible.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	p.until(`((e) => e?.checkVisibility() && e.innerText.includes(%q))(document.querySelector(%q))`, text, selector)
}

// hides waits until the first element that a selector finds is not visible.
func (p *page) hides(selector string) {
	p.t.Helper()
	p.until(`!document.querySelector(%q)?.checkVisibility()`, selector)
}

// lists waits until the list shows the pets with the IDs first to last, in these steps.
func (p *page) lists(first, last, step int) {
	p.t.Helper()
	var ids []string
	for id := first; id <= last; id += step {
		ids = append(ids, fmt.Sprint(id))
	}
	p.until(`document.querySelector("#list").ariaBusy === "false" &&
		[...document.querySelectorAll("#list td a")].map((e) => e.textContent).join() === %q`, strings.Join(ids, ","))
}

// fill adds n pets. Every third one is sold.
func (p *page) fill(n int) {
	names := []string{"Bella", "Tom", "Luna", "Rex", "Mia", "Charlie", "Nala", "Oscar", "Coco", "Milo", "Kiki"}
	statuses := []string{`,"status":"available"`, "", `,"status":"sold"`}
	for i := range n {
		p.server.Must(201, "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":%d%s}`, names[i%len(names)], 1+i*7%5, statuses[i%3]))
	}
}

// check looks for what axe-core finds and for what is too wide.
func (p *page) check(state string) {
	p.t.Helper()
	eval[any](p.browser, "%s", string(process.ReadFile(p.t, "npm/node_modules/axe-core/axe.min.js"))+"; undefined")
	for width, scheme := range map[int64]string{320: "dark", 1200: "light"} {
		p.look(width, 760, scheme)
		for _, violation := range eval[[]string](p.browser, `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).slice(0, 3).join("; ")))`) {
			p.t.Errorf("%s, %s: %s", state, scheme, violation)
		}
		if over := eval[int64](p.browser, `document.documentElement.scrollWidth`) - width; over > 0 {
			p.t.Errorf("%s: the page is %d pixels too wide", state, over)
		}
	}
	p.look(1200, 760, "light")
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
	if got := eval[string](p.browser, kept); strings.Count(got, p.server.Key) != 1 || !strings.HasSuffix(got, `,{"api-key":"`+p.server.Key+`"}]`) {
		p.t.Errorf("the key is kept elsewhere than in the session: %s", got)
	}
}

func (p *page) browse() {
	p.lists(1, 20, 1)
	p.shows("#shown", "All pets: 1 to 20")
	if *update {
		process.WriteFile(p.t, "../../../docs/page-pets.png", run(p.browser, chromedp.CaptureScreenshot()))
	}
	p.click(`#filter [href$=sold]`)
	p.lists(3, 60, 3)
	p.click(".next")
	p.lists(63, 69, 3)
	p.until(`document.activeElement.matches(".next[aria-disabled=true]")`)
	p.do(chromedp.Reload())
	p.lists(63, 69, 3)
	p.shows("#filter [aria-current]", "Sold")
	p.click(`#filter [href$=pending]`)
	p.shows("#shown", "No pet is pending")
	p.click(`#filter [href$=pets]`)
	p.lists(1, 20, 1)

	// Previous and Back go back in the history, and the address leads others there.
	p.click(".next")
	p.lists(21, 40, 1)
	p.click("#list ~ .pages .next")
	p.lists(41, 60, 1)
	p.click(".previous")
	p.lists(21, 40, 1)
	p.do(chromedp.Reload())
	p.lists(21, 40, 1)
	p.click(".previous")
	p.lists(1, 20, 1)
	p.until(`document.querySelector(".previous").ariaDisabled === "true"`)
	p.do(chromedp.NavigateBack())
	p.shows("#shown", "No pet is pending")
	p.do(chromedp.NavigateForward(), chromedp.NavigateForward())
	p.lists(21, 40, 1)
	p.open(eval[string](p.browser, `location.hash`))
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
}

func (p *page) add() {
	invalid := func(field, message string) {
		p.t.Helper()
		p.shows(field+"-error", message)
		p.until(`document.activeElement.matches(%q) && document.activeElement.ariaInvalid === "true"`, field)
	}
	p.click("#add [type=submit]")
	invalid("#add-name", "Name is missing")
	p.shows("#add-categoryId-error", "Category is missing")
	p.check("the pets")
	p.enter("#add-name", "<b>Rex & \"Co\"")
	p.hides("#add-name-error")
	p.shows("#add-categoryId-error", "Category is missing")
	p.press("\r")
	invalid("#add-categoryId", "Category is missing")
	p.shows("[for=add-name]", "required")
	p.shows("[for=add-categoryId]", "required a whole number")
	for _, wrong := range []string{"cats", "1.5", "9223372036854775808"} {
		p.enter("#add-categoryId", wrong+"\r")
		invalid("#add-categoryId", "Category must be a 64-bit integer")
	}
	p.enter("#add-categoryId", "-9223372036854775808\tp\t\r") // the first letter chooses a status
	p.shows("#added", "Pet 71 was added")
	p.click("#added a")
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
	p.click(`[href="#api"]`)
	p.shows("#getPet .notice", "removal on 5 December 2030; use listPets")
	p.shows(`[aria-label="getPet: curl"]`, "/v1/pets/1'")
	p.click("#getPet .try [type=submit]")
	p.shows("#getPet .result", "200 OK")
	p.enter("#listPets-limit", "0\r")
	p.shows("#listPets .result", "limit: must be an integer from 1 to 100")
	p.enter("#createPet-body", `{"name":"Rex","categoryId":1234567890123456789}`)
	p.click("#createPet .try [type=submit]")
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
		line := eval[string](p.browser, `document.querySelector("#%s .block pre").textContent`, c.id)
		command := process.Command(p.t.TempDir(), "sh", "-c", line)
		command.Env = append(command.Env, "PETSTORE_API_KEY="+p.server.Key)
		code, stdout, stderr := process.Run(p.t, command)
		if code != 0 || !strings.Contains(stdout, c.want) {
			p.t.Errorf("%s:\n%s\nexit code %d\n%s%s", c.id, line, code, stdout, stderr)
		}
	}
	eval[any](p.browser, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
	p.check("the API")

	// What was created there is in the list.
	p.click(`.views [href="#pets"]`)
	p.enter("#find-id", "72\r")
	p.lists(72, 72, 1)
	p.check("a pet without a status")
}

// loseKey: what the page showed with the key is gone when the user or the server forgets
// it, and a response that comes later is not shown.
func (p *page) loseKey() {
	p.click(`.views [href="#pets"]`)
	const shown = `document.querySelector("#list tbody").textContent + document.querySelector("#shown").textContent`
	eval[any](p.browser, `document.querySelector("#listPets .try [type=submit]").click(); document.querySelector("#forget").click()`)
	p.shows("#locked", "API key")
	p.until(`document.querySelector("#listPets .result").textContent.includes("forgotten")`)
	if left := eval[string](p.browser, shown+"+sessionStorage.length"); left != "0" {
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
	if left := eval[string](p.browser, shown); left != "" {
		p.t.Errorf("it still shows %q", left)
	}
}
