package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/petstoretest"
)

// findings are the certain findings for each client, each with a difficulty that
// shows it. docs/clients.md has the reasons.
var findings = []struct{ client, difficulty, finding string }{
	{"naive", "lost-response", "repeated-without-key"},
	{"naive", "too-many-requests", "ignored-retry-after"},
	{"naive", "no-link", "own-cursor"},
	{"naive", "ids-huge", "rounded-integer"},
	{"openapi-fetch", "lost-response", "repeated-without-key"},
	{"openapi-fetch", "unavailable", "ignored-retry-after"},
	{"openapi-fetch", "ids-huge", "rounded-integer"},
	{"hey-api", "ids-huge", "rounded-integer"},
	{"oapi-codegen", "unavailable", "ignored-retry-after"},
	{"oapi-codegen", "link-elsewhere", "key-sent-elsewhere"},
}

// TestClients: with one of the first seeds the server finds each of findings, and it
// finds nothing else that is certain.
func TestClients(t *testing.T) {
	commands := build(t)
	for _, f := range findings {
		t.Run(f.client+"/"+f.difficulty, func(t *testing.T) {
			command := commands[f.client]
			if command == nil {
				t.Skip("this needs Node.js")
			}
			t.Parallel()
			found := false
			for seed := uint64(0); seed < 20 && !found; seed++ {
				for _, got := range try(t, command, seed, f.difficulty) {
					found = found || got.Name == f.finding
					expected := slices.ContainsFunc(findings, func(other struct{ client, difficulty, finding string }) bool {
						return other.client == f.client && other.finding == got.Name
					})
					if got.Certain && !expected {
						t.Errorf("another finding:\n%s", got)
					}
				}
			}
			if !found {
				t.Errorf("%s is not found", f.finding)
			}
		})
	}
}

// try runs a client against a server with one difficulty. It logs what the client
// reports and what the server has stored.
func try(t *testing.T, command []string, seed uint64, difficulty string) []petstoretest.Finding {
	t.Helper()
	srv, err := petstoretest.Start(petstoretest.Difficult(seed, difficulty))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = process.Environ("PETSTORE_URL="+srv.URL, "PETSTORE_KEY="+srv.Key)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var did struct { // what the client believes
		Added, Listed []string // names
		Got, Messages int
	}
	if err := errors.Join(err, json.Unmarshal(out, &did)); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	page, err := srv.Store.ListPets(t.Context(), petstore.ListQuery{Limit: petstore.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]int{}
	for _, pet := range page.Pets {
		stored[pet.Name]++
	}
	var names []string
	for _, f := range srv.Findings() {
		names = append(names, fmt.Sprint(f.Name, " ", f.Count))
	}
	t.Logf("%s, seed %d: added %d pets, stored %d (%d of them twice), listed %d, got %d, submitted %d; %s", difficulty, seed,
		len(did.Added), len(page.Pets), len(page.Pets)-len(stored), len(did.Listed), did.Got, did.Messages, strings.Join(names, ", "))
	return srv.Findings()
}
