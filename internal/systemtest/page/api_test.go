package page

import (
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/systemtest/browser"
	"example.com/animalstore/petstore/httpapi"
)

// TestAPI: all that the OpenAPI document says is on the page.
func TestAPI(t *testing.T) {
	p := newPage(t)
	p.open("#api")
	browser.Eval[any](p.Browser, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
	shown := words(browser.Eval[string](p.Browser, `document.querySelector("#api").innerText`))
	var doc any
	if err := json.Unmarshal(httpapi.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	for where, text := range texts("", doc) {
		if notShown.MatchString(where) {
			continue
		}
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			found++
			if !strings.Contains(shown, words(paragraph)) {
				t.Errorf("%s: not on the page: %s", where, paragraph)
			}
		}
	}
	if found < 200 {
		t.Errorf("the document has only %d texts", found)
	}

	p.shows(`[href="#getPet"] .tag`, "deprecated")
	p.shows("#getPet .notice", "removal on 5 December 2030; use listPets")
	p.Click(`#getPet .notice a`)
	p.Until(`document.activeElement.id === "listPets"`)
}

// texts returns every string in a JSON value, and every name that the contract defines,
// with its place.
func texts(where string, value any) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				place := where + "/" + name
				if slices.Contains([]string{"paths", "properties", "responses", "headers", "schemas"}, path.Base(where)) && !yield(place, name) {
					return
				}
				for place, text := range texts(place, member) {
					if !yield(place, text) {
						return
					}
				}
			}
		case []any:
			for i, member := range value {
				for place, text := range texts(fmt.Sprintf("%s/%d", where, i), member) {
					if !yield(place, text) {
						return
					}
				}
			}
		case string:
			yield(where, value)
		}
	}
}

// notShown matches the places of texts that the page does not show, such as names
// that only the document uses.
var notShown = regexp.MustCompile(`^/openapi$|^/servers/|^/info/(summary|contact|license)|/securitySchemes/|` +
	`^/components/(headers|responses)/\w+$|^/components/headers/\w+/schema/|/links/\w+/parameters/|/\$ref$|/x-sunset$`)

var (
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	word       = regexp.MustCompile(`[\pL\pN]+`)
)

// words returns the words of a text, which may be Markdown.
func words(text string) string {
	return strings.ToLower(strings.Join(word.FindAllString(linkTarget.ReplaceAllString(text, ""), -1), " "))
}

// TestTry: an operation can be tried, with a key and without one.
func TestTry(t *testing.T) {
	p := newPage(t)
	p.open("#createPet")
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "401 Unauthorized")
	p.Click("#createPet .result a")
	p.unlock()
	p.Click(`[href="#api"]`)
	p.enter("#createPet-body", `{"name":"Rex","categoryId":12345678901234567`)
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "400 Bad Request")
	p.enter("#createPet-body", `{"name":"Rex","categoryId":1234567890123456789}`)
	p.Click("#createPet .try [type=submit]")
	p.shows("#createPet .result", "201 Created")
	p.shows("#createPet .result pre", `"categoryId": 1234567890123456789`)
	p.enter("#listPets-limit", "0\r")
	p.shows("#listPets .result", "limit: must be an integer from 1 to 100")
	p.enter("#listPets-limit", "1\r")
	p.shows("#listPets .result", "200 OK")
	p.Click("#submitMessage .try [type=submit]")
	p.shows("#submitMessage .result", "202")
	p.Click(`[href="#pets"]`)
	p.shows("[data-fact=queuedMessages]", "1")
}

// TestCode: the commands run, and send the request of the form.
func TestCode(t *testing.T) {
	p := newPage(t)
	p.open("#api")
	const text = `it's "5 €" \ $HOME`
	body, err := json.Marshal(map[string]any{"name": text, "categoryId": 7, "status": "sold", "message": text})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"createPet", "submitMessage"} {
		p.enter("#"+id+"-body", string(body))
	}
	p.enter("#listPets-limit", "2")
	browser.Eval[any](p.Browser, `((e) => { e.value = "sold"; e.dispatchEvent(new Event("input", {bubbles: true})); })(document.querySelector("#listPets-status"))`)
	for _, id := range []string{"createPet", "listPets", "getPet", "submitMessage"} {
		line := browser.Eval[string](p.Browser, `document.querySelector("#%s .block pre").textContent`, id)
		command := process.Command(t.TempDir(), "sh", "-c", line)
		command.Env = process.Environ("PETSTORE_API_KEY=" + p.server.Key)
		code, stdout, stderr := process.Run(t, command)
		if code != 0 || !strings.Contains(stdout, "it's") {
			t.Errorf("%s:\n%s\nexit code %d\n%s%s", id, line, code, stdout, stderr)
		}
	}
	name, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.server.Must(200, "GET", "/pets/1", ""); !strings.HasSuffix(r.Body, fmt.Sprintf(`"name":%s,"categoryId":7,"status":"sold"}`, name)) {
		t.Errorf("stored %s", r.Body)
	}
}
