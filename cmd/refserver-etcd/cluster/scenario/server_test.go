package scenario

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
	"example.com/animalstore/petstore"
)

// busy is a client that creates pets at one server over a connection that it
// keeps, until the server is gone. Its fields have the names of the pets, which
// are also their Idempotency-Keys, by how their creation ended.
type busy struct {
	acknowledged map[string]int64 // their ids
	silent       []string         // the connection ended before a response began
	cut          []string         // the response was cut short
	refused      []string         // there was another response
	announced    int              // how many connections the server closed with Connection: close
}

func (b *busy) run(server *url.URL, key, prefix string, acknowledged *atomic.Int64) {
	b.acknowledged = map[string]int64{}
	for n := 0; ; {
		conn, err := net.Dial("tcp", server.Host)
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		r := bufio.NewReader(conn)
		for stay := true; stay; n++ {
			name := fmt.Sprintf("%s%d", prefix, n)
			if stay = b.create(conn, r, server, key, name); stay {
				acknowledged.Add(1)
			}
		}
		conn.Close()
	}
}

// create creates a pet, and reports whether the connection can be used again.
func (b *busy) create(conn net.Conn, r *bufio.Reader, server *url.URL, key, name string) bool {
	body := fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, name)
	_, err := fmt.Fprintf(conn, "POST %s/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", server.Path, key, name, len(body), body)
	if err == nil {
		_, err = r.Peek(1)
	}
	if err != nil {
		b.silent = append(b.silent, name)
		return false
	}
	resp, err := http.ReadResponse(r, nil)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(resp.Body)
	}
	var pet petstore.Pet
	if err == nil && resp.StatusCode == http.StatusCreated {
		err = json.Unmarshal(text, &pet)
	}
	switch {
	case err != nil:
		b.cut = append(b.cut, name)
		return false
	case resp.StatusCode == http.StatusCreated:
		b.acknowledged[name] = pet.ID
	default:
		b.refused = append(b.refused, name)
	}
	if resp.Close {
		b.announced++
	}
	return !resp.Close
}

// crowd counts what happened to many busy clients.
type crowd struct {
	acknowledged, silent, cut, refused, announced int

	unacknowledged int // stored, though the client got no whole response
}

func (c crowd) String() string {
	return fmt.Sprintf("%d creations acknowledged, %d responses cut short, %d requests without a response (%d of them and of the cut ones were stored), %d refused, %d connections closed with Connection: close",
		c.acknowledged, c.cut, c.silent, c.unacknowledged, c.refused, c.announced)
}

// endServers ends one server after the other, many times. Each has busy clients
// of its own, while the clients of a load use all servers.
func endServers(t *testing.T, c *local.Cluster, end func(*local.Server) error) (total crowd) {
	t.Helper()
	l := startLoad(c)
	for round := range either(20, 3) {
		l.progress(t)
		s, other := c.Servers[round%len(c.Servers)], c.Servers[(round+1)%len(c.Servers)]
		base, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		before, prefix := l.highest(), fmt.Sprintf("busy%d-", loads.Add(1))
		clients := make([]busy, 2*writers)
		var acknowledged atomic.Int64
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() { clients[i].run(base, c.Key, fmt.Sprintf("%s%d-", prefix, i), &acknowledged) })
		}
		eventually(t, "responses to the busy clients", func() error {
			if n := acknowledged.Load(); n < int64(10*len(clients)) {
				return fmt.Errorf("%d responses", n)
			}
			return nil
		})
		time.Sleep(rand.N(100 * time.Millisecond)) // otherwise it is always just after a response
		if err := end(s); err != nil {
			t.Error(err)
		}
		wg.Wait()
		l.progress(t)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		stored := storedUnder(t, other, c.Key, prefix, before)
		for i := range clients {
			clients[i].settle(t, other, c.Key, stored, &total)
		}
	}
	l.finish(t)
	return total
}

// storedUnder returns the ids, by name, of the pets after the id before whose
// names start with prefix.
func storedUnder(t *testing.T, s *local.Server, key, prefix string, before int64) map[string]int64 {
	t.Helper()
	all, err := list(s.URL(), key, "", before)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]int64{}
	for _, p := range all {
		if len(p.Name) < len(prefix) || p.Name[:len(prefix)] != prefix {
			continue
		}
		if stored[p.Name] != 0 {
			t.Errorf("%s is stored twice", p.Name)
		}
		stored[p.Name] = p.ID
	}
	return stored
}

// settle compares what a client saw with what is stored. At another server it
// repeats each creation that was not acknowledged.
func (b *busy) settle(t *testing.T, s *local.Server, key string, stored map[string]int64, total *crowd) {
	t.Helper()
	for name, id := range b.acknowledged {
		if stored[name] != id {
			t.Errorf("%s is stored as %d, and was acknowledged as %d", name, stored[name], id)
		}
	}
	for _, names := range [][]string{b.silent, b.cut, b.refused} {
		for _, name := range names {
			var id int64
			eventually(t, "the repetition", func() (err error) {
				id, err = create(s.URL(), key, name, name)
				return err
			})
			if stored[name] != 0 && stored[name] != id {
				t.Errorf("%s was stored as %d, and the repetition is %d", name, stored[name], id)
			}
		}
	}
	for _, names := range [][]string{b.silent, b.cut} {
		for _, name := range names {
			if stored[name] != 0 {
				total.unacknowledged++
			}
		}
	}
	total.acknowledged += len(b.acknowledged)
	total.silent += len(b.silent)
	total.cut += len(b.cut)
	total.refused += len(b.refused)
	total.announced += b.announced
}

func testServersKilled(t *testing.T, c *local.Cluster) {
	total := endServers(t, c, func(s *local.Server) error {
		s.Kill()
		return nil
	})
	t.Logf("killed: %v", total)
}

// A server that is stopped in good order responds to what it has accepted.
func testServersDrained(t *testing.T, c *local.Cluster) {
	total := endServers(t, c, (*local.Server).Stop)
	t.Logf("drained: %v", total)
	if total.cut > 0 || total.unacknowledged > 0 {
		t.Errorf("%d responses were cut short, %d creations were stored and not acknowledged; want none", total.cut, total.unacknowledged)
	}
	if total.announced == 0 {
		t.Error("no connection was closed with Connection: close")
	}
}
