package petstoretest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestOptions(t *testing.T) {
	store := memory.New(nil)
	srv := New(t, &Options{Addr: "localhost:0", Store: store, Prefix: "/api/v2", Key: "mine", Difficult: &Difficulty{Seed: 1, Names: []string{"ids", "busy"}}})
	pet, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.IdempotencyKey{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := srv.Client.GetPet(t.Context(), pet.ID); got != pet || err != nil {
		t.Errorf("the server has %+v (%v), want %+v", got, err, pet)
	}
	if n, err := store.Stats(t.Context()); n.Pets != 1 || err != nil {
		t.Errorf("the store has %+v, %v", n, err)
	}
	if srv.Key != "mine" || !strings.HasSuffix(srv.URL, "/api/v2") {
		t.Errorf("the server has the key %q and the URL %s", srv.Key, srv.URL)
	}
	stranger, err := client.New(srv.URL, "another", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.ListPets(t.Context(), petstore.ListQuery{}); petstore.CodeOf(err) != petstore.CodeUnauthorized {
		t.Errorf("an unknown key: %v", err)
	}
}

// A handler of one's own can be tested, and be difficult.
func TestHandler(t *testing.T) {
	for prefix, difficult := range map[string]*Difficulty{"/shop": nil, "/shop/v2": {Seed: 1}, "/": {Seed: 2}} {
		path := strings.TrimSuffix(prefix, "/")
		mux := http.NewServeMux()
		mux.Handle(path+"/", http.StripPrefix(path, httpapi.New(memory.New(nil), apikey.Static{"secret": "shop"}, nil)))
		srv := New(t, &Options{Handler: mux, Prefix: prefix, Key: "secret", Difficult: difficult})
		for i := range 30 {
			if _, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: fmt.Sprint(i)}, petstore.IdempotencyKey{}); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, err := range srv.Client.All(t.Context(), petstore.ListQuery{Limit: 4}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != 30 {
			t.Errorf("a list has %d pets, want 30", n)
		}
	}
}

// A client that does not end a request does not keep the server from ending.
func TestClose(t *testing.T) {
	t.Parallel()
	srv := New(t, &Options{Difficult: &Difficulty{Names: []string{"ids"}}})
	conn, err := net.Dial("tcp", srv.http.Listener.Addr().String())
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
	taken := strings.TrimSuffix(strings.TrimPrefix(New(t, nil).URL, "http://"), "/v1")
	handler := http.NotFoundHandler()
	for want, opts := range map[string]*Options{
		`unknown difficulty "hard"; the difficulties are busy, lost, ids,`: {Difficult: &Difficulty{Names: []string{"ids", "hard"}}},
		"address already in use":       {Addr: taken},
		"a Handler and a Store":        {Handler: handler, Key: "k", Store: memory.New(nil)},
		"a Handler without a Key":      {Handler: handler},
		`such as /api/v1, got "v1"`:    {Prefix: "v1"},
		`such as /api/v1, got "/a/"`:   {Prefix: "/a/"},
		`such as /api/v1, got "/a/.."`: {Prefix: "/a/.."},
	} {
		if s, err := Start(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start returned %v, %v; want an error with %q", s, err, want)
		}
	}
}
