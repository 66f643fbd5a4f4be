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

func TestOptions(t *testing.T) {
	store := memory.New(nil)
	srv := New(t, Difficult(1, "ids", "busy"), Listen("localhost:0"), Store(store))
	pet, err := srv.Client.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := srv.Store.GetPet(t.Context(), pet.ID); got != pet || err != nil {
		t.Errorf("the server's store has %+v (%v), want %+v", got, err, pet)
	}
	if n, err := store.Stats(t.Context()); n.Pets != 1 || err != nil {
		t.Errorf("the store has %+v, %v", n, err)
	}
	stranger, err := client.New(srv.URL, "another", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.ListPets(t.Context(), petstore.ListQuery{}); petstore.CodeOf(err) != petstore.CodeUnauthorized {
		t.Errorf("an unknown key: %v", err)
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
		"address already in use": Listen(taken),
	} {
		if s, err := Start(option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start returned %v, %v; want an error with %q", s, err, want)
		}
	}
}
