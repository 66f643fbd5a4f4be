package clients

import (
	"os/exec"
	"slices"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/petstoretest"
)

// With five seeds the server finds each mistake of each client, and no other. Only clients
// with that mistake add a pet twice.
func TestClients(t *testing.T) {
	commands := build(t)
	for client, mistakes := range map[string][]string{
		"naive":         {"ignored-retry-after", "own-cursor", "repeated-without-key", "rounded-id"},
		"oapi-codegen":  nil,
		"openapi-fetch": nil,
		"requests":      nil,
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			if commands[client] == nil {
				t.Skip("its tools are not installed")
			}
			var found []string
			for seed := range uint64(5) {
				found = append(found, try(t, commands[client], seed)...)
			}
			slices.Sort(found)
			if found = slices.Compact(found); !slices.Equal(found, mistakes) {
				t.Errorf("found %q, want %q", found, mistakes)
			}
		})
	}
}

// try runs a client against a difficult server, and returns the names of its mistakes.
func try(t *testing.T, command []string, seed uint64) (mistakes []string) {
	t.Helper()
	srv, err := petstoretest.Start(petstoretest.Difficult(seed))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = process.Environ("PETSTORE_URL="+srv.URL, "PETSTORE_KEY="+srv.Key)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("seed %d: %v\n%s", seed, err, out)
	}
	for _, f := range srv.Summary().Findings {
		if f.Certain {
			mistakes = append(mistakes, f.Name)
			t.Logf("seed %d: %s", seed, f)
		}
	}
	stored := map[string]int{}
	for pet, err := range srv.Client.All(t.Context(), petstore.ListQuery{}) {
		if stored[pet.Name]++; err != nil || stored[pet.Name] > 1 && !slices.Contains(mistakes, "repeated-without-key") {
			t.Errorf("seed %d: %+v was added twice (%v)", seed, pet, err)
		}
	}
	return mistakes
}
