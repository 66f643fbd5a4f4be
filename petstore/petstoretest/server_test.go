package petstoretest

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

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
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	store := memory.New(&memory.Options{Now: func() time.Time { return noon }})
	for base, difficult := range map[string]bool{"api/v1": false, "/api/v1/": true} {
		opts := []Option{Base(base), Listen("localhost:0"), TLS(), Store(store), Accounts(Keys{"bob-1": "bob", "bob-2": "bob"})}
		if difficult {
			opts = append(opts, Difficult(1))
		}
		srv := New(t, opts...)
		if !strings.HasPrefix(srv.URL, "https://127.0.0.1:") || !strings.HasSuffix(srv.URL, "/api/v1") {
			t.Errorf("the base address is %s", srv.URL)
		}
		if m, err := srv.Client.SubmitMessage(t.Context(), "hello", petstore.Once{}); err != nil || !m.CreatedAt.Equal(noon) {
			t.Errorf("submitted %+v, %v", m, err)
		}
		if resp, err := srv.HTTP.Get(srv.URL); err == nil { // a difficult server may close the connection
			if resp.Body.Close(); resp.ProtoMajor != 2 {
				t.Errorf("the protocol is %s", resp.Proto)
			}
		}
		// The scope of an Idempotency-Key is the account, not the API key.
		var ids []int64
		for _, key := range []string{srv.Key, "bob-1", "bob-2"} {
			c, err := client.New(srv.URL, key, &client.Options{HTTPClient: srv.HTTP, IdempotentServer: true})
			if err != nil {
				t.Fatal(err)
			}
			pet, err := c.CreatePet(t.Context(), newRex, petstore.Once{Key: srv.URL})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, pet.ID)
			if got, err := srv.Store.GetPet(t.Context(), pet.ID); got != pet || err != nil {
				t.Errorf("the store has %+v (%v), want %+v", got, err, pet)
			}
		}
		if ids[0] == ids[1] || ids[1] != ids[2] {
			t.Errorf("created %d", ids)
		}
		bad, err := client.New(srv.URL, "alice", &client.Options{HTTPClient: srv.HTTP})
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
	srv := New(t, Difficult(1, "delay"))
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
		`unknown difficulty "hard"`:  Difficult(1, "delay", "hard"),
		"address already in use":     Listen(taken),
		`pet "Rex": status: must be`: Pets(petstore.NewPet{Name: "Rex", Status: "lost"}),
	} {
		if s, err := Start(option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start returned %v, %v; want an error with %q", s, err, want)
		}
	}
}
