package page

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/systemtest/browser"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// page is the web page of a reference server, in a browser.
type page struct {
	*browser.Browser
	t      *testing.T
	server *process.Server
	url    string
	opened int
}

// newPage starts a server without pets and a browser that shows its page.
func newPage(t *testing.T) *page {
	t.Helper()
	program := process.Build(t, "example.com/animalstore/cmd/refserver")
	s := process.Serve(t, process.Command(t.TempDir(), program, "-addr=127.0.0.1:0"))
	p := &page{t: t, server: s, url: "http://" + s.Host() + "/"}
	p.Browser = browser.New(t, p.url)
	p.Look(1200, 900, "light")
	p.open("#pets")
	return p
}

// open loads the page again, without a key.
func (p *page) open(fragment string) {
	p.t.Helper()
	browser.Eval[any](p.Browser, `location.protocol === "http:" && sessionStorage.clear()`)
	p.opened++ // another query, since a new fragment alone loads nothing
	p.Do(chromedp.Navigate(fmt.Sprintf("%s?%d%s", p.url, p.opened, fragment)))
	p.Until(`location.search === "?%d" && document.querySelector("#description").ariaBusy === "false"`, p.opened)
}

// unlock enters the server's key.
func (p *page) unlock() {
	p.t.Helper()
	p.enter("#key-field", p.server.Key+"\r")
	p.shows("[data-fact=uptime]", " s")
}

// enter replaces what is in a field by keys, which may also leave the field.
func (p *page) enter(field, keys string) {
	p.t.Helper()
	p.Click(field)
	browser.Eval[any](p.Browser, `document.querySelector(%q).select()`, field)
	p.Press(keys)
}

// shows waits until a text is in the first element that a selector finds, and
// visible.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	p.Until(`((e) => e?.checkVisibility() && e.innerText.includes(%q))(document.querySelector(%q))`, text, selector)
}

// hides waits until the first element that a selector finds is not visible.
func (p *page) hides(selector string) {
	p.t.Helper()
	p.Until(`!document.querySelector(%q)?.checkVisibility()`, selector)
}

// names waits until the list shows pets with these names.
func (p *page) names(want ...string) {
	p.t.Helper()
	p.Until(`document.querySelector("#list").ariaBusy === "false" &&
		[...document.querySelectorAll("#list .name")].map((e) => e.textContent).join() === %q`, strings.Join(want, ","))
}

// fill adds pets with the names first to last, which are numbers. Every third one
// is sold, and the others have no status.
func (p *page) fill(first, last int) {
	for n := first; n <= last; n++ {
		status := ""
		if n%3 == 0 {
			status = `,"status":"sold"`
		}
		p.server.Must(201, "POST", "/pets", fmt.Sprintf(`{"name":"%d","categoryId":1%s}`, n, status))
	}
}

func numbers(first, last, step int) (names []string) {
	for n := first; n <= last; n += step {
		names = append(names, fmt.Sprint(n))
	}
	return names
}

func TestKey(t *testing.T) {
	p := newPage(t)
	p.fill(1, 1)
	p.hides("#unlocked")
	p.enter("#key-field", "\r")
	p.shows("#key-error", "Enter a key")
	p.enter("#key-field", "🐶\r")
	p.shows("#key-error", "no spaces")
	p.enter("#key-field", "wrong\r")
	p.shows("#key-error", "unknown API key")
	p.Until(`document.activeElement.matches("#key-field[aria-invalid]")`)
	p.hides("#unlocked")

	p.unlock()
	p.names("1")
	p.hides("#locked")
	const kept = `document.querySelector("#key-field").value + document.cookie + JSON.stringify([localStorage, history.state, sessionStorage])`
	if got := browser.Eval[string](p.Browser, kept); strings.Count(got, p.server.Key) != 1 || !strings.HasSuffix(got, `,{"api-key":"`+p.server.Key+`"}]`) {
		t.Errorf("the key is kept elsewhere than in the session: %s", got)
	}
	p.Do(chromedp.Reload())
	p.names("1")

	// What the page showed with the key is gone once the page or the server forgets the key.
	const shown = `document.querySelector("#list tbody").textContent + document.querySelector("#facts dd").textContent`
	p.Click("#forget")
	p.shows("#locked", "API key")
	if left := browser.Eval[string](p.Browser, shown+"+sessionStorage.length"); left != "…0" {
		t.Errorf("it still shows %q", left)
	}
	p.unlock()
	id := strings.Fields(runTool(t, p.server, "keys", "list"))[4]
	runTool(t, p.server, "keys", "revoke", id)
	p.server.Until("the key is revoked", func() bool {
		r, err := p.server.Send("GET", "/pets", "")
		return err == nil && r.Status == 401
	})
	p.enter("#add-name", "Rex\t1\r")
	p.shows("#key-error", "unknown API key")
	if left := browser.Eval[string](p.Browser, shown); left != "…" {
		t.Errorf("it still shows %q", left)
	}
}

// TestForget: a response that comes after the key was forgotten is not shown.
func TestForget(t *testing.T) {
	p := newPage(t)
	p.fill(1, 1)
	p.unlock()
	browser.Eval[any](p.Browser, `document.querySelector("#listPets .try [type=submit]").click(); document.querySelector("#forget").click()`)
	p.Until(`document.querySelector("#listPets .result").textContent.includes("forgotten")`)
}

// TestOtherFragments: the page shows a view for any fragment.
func TestOtherFragments(t *testing.T) {
	p := newPage(t)
	for _, fragment := range []string{"#%", "#main", "#nothing"} {
		p.open(fragment)
		p.shows("#locked", "API key")
	}
}

// runTool runs a command of the server's program in its directory.
func runTool(t *testing.T, s *process.Server, args ...string) string {
	t.Helper()
	program := process.Build(t, "example.com/animalstore/cmd/refserver")
	code, stdout, stderr := process.Run(t, process.Command(s.Dir, append([]string{program}, args...)...))
	if code != 0 {
		t.Fatalf("%s: exit code %d: %s", args, code, stderr)
	}
	return stdout
}

func TestList(t *testing.T) {
	p := newPage(t)
	p.unlock()
	p.shows("#empty", "no pets yet")
	p.fill(1, 50)
	p.open("#pets")
	p.unlock()
	p.shows("[data-fact=pets]", "50")
	p.names(numbers(1, 20, 1)...)
	p.Click("#next")
	p.names(numbers(21, 40, 1)...)
	p.shows("#shown", "Page 2 of 3")
	p.Click("#next")
	p.names(numbers(41, 50, 1)...)
	p.Until(`document.querySelector("#next").disabled && document.querySelector("#last").disabled`)
	p.Click("#previous")
	p.names(numbers(21, 40, 1)...)
	p.Click("#first")
	p.names(numbers(1, 20, 1)...)
	p.Click("#last")
	p.names(numbers(41, 50, 1)...)

	// Back, forward and a reload keep the place.
	p.Do(chromedp.NavigateBack())
	p.names(numbers(1, 20, 1)...)
	p.Do(chromedp.NavigateBack())
	p.names(numbers(21, 40, 1)...)
	p.Do(chromedp.Reload())
	p.names(numbers(21, 40, 1)...)
	p.Do(chromedp.NavigateForward())
	p.names(numbers(1, 20, 1)...)

	// A second click while a page loads, and other views, leave no wrong place in the history.
	length := browser.Eval[int](p.Browser, `history.length`)
	browser.Eval[any](p.Browser, `document.querySelector("#next").click(), document.querySelector("#next").click()`)
	p.names(numbers(21, 40, 1)...)
	p.Until(`history.length === %d && history.state?.number === 2`, length) // in the place of the one forward
	p.Click(`[href="#api"]`)
	p.Click(`.views [href="#pets"]`)
	p.Click("#next")
	p.names(numbers(41, 50, 1)...)
	p.Do(chromedp.NavigateBack())
	p.names(numbers(21, 40, 1)...)

	// A pet is found by its ID, and its address leads to it.
	p.enter("#find-id", " 045\r")
	p.shows(".new .name", "45")
	p.Until(`location.hash === "#pet-45"`)
	p.enter("#find-id", "51\r")
	p.shows("#problem", "There is no pet 51")
	p.enter("#find-id", "x\r")
	p.shows("#problem", "An ID is a number")
	p.open("#pet-21")
	p.unlock()
	p.shows(".new .name", "21")
	p.Click(`[href="#pet-30"]`)
	p.shows(".new .name", "30")

	p.Click(`#filter [value=sold] + span`)
	p.names(numbers(3, 48, 3)...)
	p.shows("#shown", "Page 1")
	p.Until(`document.querySelector("#next").disabled && document.querySelector("#previous").disabled`)
	p.fill(51, 66) // 22 are sold
	p.Click("#refresh")
	p.names(numbers(3, 60, 3)...)
	p.Click("#next")
	p.names("63", "66")
	p.Click("#previous")
	p.names(numbers(3, 60, 3)...)
	p.shows("[data-fact=pets]", "66")
	p.Click(`#filter [value=pending] + span`)
	p.shows("#empty", "No pet is pending")

	// After a failure to load a page the user can try again.
	p.server.Kill()
	p.Click("#refresh")
	p.shows("#problem", "The server does not respond")
	p.Until(`((r) => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector("#problem").getBoundingClientRect())`)
}

func TestAdd(t *testing.T) {
	p := newPage(t)
	p.unlock()
	invalid := func(field, message string) {
		t.Helper()
		p.shows(field+"-error", message)
		p.Until(`document.activeElement.matches(%q) && document.activeElement.ariaInvalid === "true"`, field)
	}
	p.Click("#add [type=submit]")
	invalid("#add-name", "Name is missing")
	p.enter("#add-name", "<b>Rex & \"Co\"\r")
	invalid("#add-categoryId", "Category is missing")
	p.hides("#add-name-error")
	for _, wrong := range []string{"cats", "1.5", "007", "9223372036854775808"} {
		p.enter("#add-categoryId", wrong+"\r")
		invalid("#add-categoryId", "Category must be a 64-bit integer")
		p.Until(`!document.querySelector("#add-categoryId-error").textContent.includes("string")`)
	}
	p.enter("#add-categoryId", "-9223372036854775808\tp\t\r") // the first letter chooses a status
	p.shows("#added", "Pet 1 was added")
	p.names(`<b>Rex & "Co"`)
	p.shows(".new", "-9223372036854775808")
	p.shows(".new .status", "pending")
	p.shows("#facts", "Pets\n1\nQueued messages\n0\nUptime\n")
	if r := p.server.Must(200, "GET", "/pets/1", ""); r.Body != `{"id":1,"name":"<b>Rex & \"Co\"","categoryId":-9223372036854775808,"status":"pending"}` {
		t.Errorf("stored: %s", r.Body)
	}

	p.Click(".new button")
	p.shows("#json pre", "\"name\": \"<b>Rex & \\\"Co\\\"\",\n  \"categoryId\": -9223372036854775808,\n  \"status\": \"pending\"\n}")
	p.Click("#json-close")
	p.hides("#json")

	// The list shows the new pet, wherever it is, even if the pet is added before the list
	// of the chosen status comes.
	browser.Eval[any](p.Browser, `((fetch) => { window.fetch = () => (window.fetch = fetch, new Promise(() => {})); })(fetch)`)
	p.Click(`#filter [value=sold] + span`)
	p.enter("#add-name", "Mia\t2\r")
	p.shows("#added a[href='#pet-2']", "2")
	p.shows(".new .name", "Mia")
	p.fill(3, 30)
	p.Click("#refresh")
	p.shows("#shown", "Page 1 of 2")
	p.enter("#add-name", "Tom\t2\r")
	p.shows("#added", "Pet 31 was added.")
	p.shows(".new .name", "Tom")
	p.Until(`document.activeElement.id === "add-name"`)
}
