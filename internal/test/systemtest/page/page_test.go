package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/systemtest/browser"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// page is the web page of a reference server, in a browser.
type page struct {
	*browser.Browser
	t       *testing.T
	program string
	server  *process.Server
	url     string
	width   int64
	opened  int
}

// newPage starts a server without pets and a browser that shows its page.
func newPage(t *testing.T, width int64, scheme string, flags ...string) *page {
	t.Helper()
	program := process.Build(t, "example.com/animalstore/cmd/refserver")
	s := process.Serve(t, process.Command(t.TempDir(), append([]string{program, "-addr=127.0.0.1:0"}, flags...)...))
	p := &page{t: t, program: program, server: s, width: width, url: "http://" + s.Host() + "/"}
	p.Browser = browser.New(t, p.url)
	p.Look(width, 760, scheme)
	p.open("")
	p.Until(`document.activeElement.id === "key-field"`)
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
	p.Until(`document.querySelector("#unlocked").checkVisibility()`)
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

// lists waits until the list shows the pets with the IDs first to last, in these steps.
func (p *page) lists(first, last, step int) {
	p.t.Helper()
	var ids []string
	for id := first; id <= last; id += step {
		ids = append(ids, fmt.Sprint(id))
	}
	p.Until(`document.querySelector("#list").ariaBusy === "false" &&
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

// TestLogin: behind a proxy that a user logs in to, the page sends the cookie of the login.
// When the login has expired, the page says what to do, and keeps the key.
func TestLogin(t *testing.T) {
	p := newPage(t, 1200, "light")
	server := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.server.Host()})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" { // as if the user logged in on the way
			http.SetCookie(w, &http.Cookie{Name: "login", Value: "x"})
		} else if _, err := r.Cookie("login"); err != nil {
			http.Error(w, "<title>Log in</title>", http.StatusUnauthorized)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	p.url = proxy.URL + "/"
	p.Browser = browser.New(t, p.url)
	p.open("")
	p.unlock()
	p.shows("#shown", "There are no pets yet")
	browser.Eval[any](p.Browser, `document.cookie = "login=; max-age=0"; undefined`)
	p.Click("#filter [href$=sold]")
	p.shows("#problem", "If a proxy needs a login, reload the page")
	p.Do(chromedp.Reload())
	p.shows("#shown", "No pet is sold")
}

// TestMessages: if messages are at another address, the page has no form for them, whose
// request would get 404.
func TestMessages(t *testing.T) {
	p := newPage(t, 1200, "light", "-messages-addr=127.0.0.1:0")
	got := browser.Eval[string](p.Browser, `document.querySelector("#submitMessage .how").textContent`)
	if want := "This server has messages at another address."; got != want {
		t.Errorf("beside submitMessage: %q, want %q", got, want)
	}
}
