package petstoretest

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/storage/memory"
)

var newRex = petstore.NewPet{Name: "Rex", CategoryID: 4}

func TestNew(t *testing.T) {
	srv := New(t)
	want, err := srv.Client.CreatePet(t.Context(), newRex, petstore.Once{})
	if err != nil {
		t.Fatal(err)
	}
	for got, err := range srv.Client.All(t.Context(), petstore.ListQuery{}) {
		if err != nil || got != want {
			t.Errorf("listed %+v (%v), want %+v", got, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for base, opts := range map[string][]Option{"api/v1": nil, "/api/v1/": {Difficult(1)}} {
		store := memory.New(nil)
		srv := New(t, append(opts, Base(base), Listen("localhost:0"), Store(store), Accounts(Keys{"bob-1": "bob", "bob-2": "bob"}))...)
		if !strings.HasPrefix(srv.URL, "http://127.0.0.1:") || !strings.HasSuffix(srv.URL, "/api/v1") {
			t.Errorf("the base address is %s", srv.URL)
		}
		// The scope of an Idempotency-Key is the account, not the API key.
		var ids []int64
		for _, key := range []string{srv.Key, "bob-1", "bob-2"} {
			c, err := client.New(srv.URL, key, nil)
			if err != nil {
				t.Fatal(err)
			}
			pet, err := c.CreatePet(t.Context(), newRex, petstore.Once{Key: "1"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, pet.ID)
			if got, err := srv.Store.GetPet(t.Context(), pet.ID); got != pet || err != nil {
				t.Errorf("the store has %+v (%v), want %+v", got, err, pet)
			}
		}
		if n, err := store.Stats(t.Context()); ids[0] == ids[1] || ids[1] != ids[2] || n.Pets != 2 || err != nil {
			t.Errorf("created %d; the store has %+v, %v", ids, n, err)
		}
		bad, err := client.New(srv.URL, "alice", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bad.ListPets(t.Context(), petstore.ListQuery{}); petstore.CodeOf(err) != petstore.CodeUnauthorized {
			t.Errorf("an unknown key: %v", err)
		}
	}
}

// A client that does not end a request does not keep the server from ending.
func TestClose(t *testing.T) {
	t.Parallel()
	srv := New(t, Difficult(1, "ids"))
	conn, err := net.Dial("tcp", srv.main.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The server asks for the body when it begins to read it.
	fmt.Fprint(conn, "POST /v1/pets HTTP/1.1\r\nHost: pets.test\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatal(line, err)
	}
	srv.Close()
}

func TestStartFails(t *testing.T) {
	taken := strings.TrimSuffix(strings.TrimPrefix(New(t).URL, "http://"), "/v1")
	for want, option := range map[string]Option{
		`unknown difficulty "hard"; the difficulties are busy, lost, ids,`: Difficult(1, "ids", "hard"),
		"address already in use":     Listen(taken),
		`pet "Rex": status: must be`: Pets(petstore.NewPet{Name: "Rex", Status: "lost"}),
	} {
		if s, err := Start(option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start returned %v, %v; want an error with %q", s, err, want)
		}
	}
}
