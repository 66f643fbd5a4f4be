//go:build linux

package faulttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"example.com/animalstore/petstore"
)

// clients create pets and submit messages at the same time, each over a
// connection that it keeps, and record the responses.
type clients struct {
	s    *server
	stop chan struct{} // closed: they end
	wg   sync.WaitGroup

	mu             sync.Mutex
	acked          ledger
	unsurePets     []string // names of pets without a response
	unsureMessages []string // texts of messages without a response
	twice          []string // names of pets with the ID of another one
	other          int      // responses of another status
	cut            int      // responses that began and did not end
	closed         int      // connections that the server said it would close
}

const clientCount = 64

// newClients returns clients that have sent nothing. The store has pets up to the
// ID last.
func newClients(s *server, last int64) *clients {
	c := &clients{s: s, stop: make(chan struct{}), acked: newLedger(sentPet)}
	c.acked.after = last
	return c
}

// untilAcknowledged waits until a client has a response.
func (c *clients) untilAcknowledged() {
	c.s.t.Helper()
	c.s.Until("a client has a response", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.acked.len() > 0
	})
}

// start starts the clients. All names that they send begin with name.
func (c *clients) start(name string) {
	for i := range clientCount {
		c.wg.Go(func() { c.run(fmt.Sprintf("%s-%d", name, i)) })
	}
}

// run sends requests until the server takes no more connections.
func (c *clients) run(name string) {
	for n := 0; ; {
		conn, err := net.Dial("tcp", c.s.Host())
		if err != nil {
			return
		}
		br := bufio.NewReader(conn)
		for kept := true; kept; n++ {
			select {
			case <-c.stop:
				conn.Close()
				return
			default:
			}
			kept = c.send(conn, br, fmt.Sprintf("%s-%d", name, n), n%4 == 3)
		}
		conn.Close()
	}
}

// send creates a pet, whose name is its Idempotency-Key too, or submits a
// message. It reports whether the connection is kept.
func (c *clients) send(conn net.Conn, br *bufio.Reader, name string, message bool) (kept bool) {
	request := c.s.raw("POST", "/pets", "Idempotency-Key: "+name+"\r\n", petBody(name))
	if message {
		request = c.s.raw("POST", "/messages", "", fmt.Sprintf(`{"message":%q}`, name))
	}
	_, err := io.WriteString(conn, request)
	if err == nil {
		_, err = br.Peek(1)
	}
	began := err == nil
	var resp *http.Response
	if began {
		resp, err = http.ReadResponse(br, nil)
	}
	var body []byte
	if err == nil {
		body, err = io.ReadAll(resp.Body)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if message {
			c.unsureMessages = append(c.unsureMessages, name)
		} else {
			c.unsurePets = append(c.unsurePets, name)
		}
		if began {
			c.cut++
		}
		return false
	}
	switch {
	case message && resp.StatusCode == http.StatusAccepted:
		var m petstore.Message
		if json.Unmarshal(body, &m) == nil {
			c.acked.messages[m.ID] = name
		}
	case !message && resp.StatusCode == http.StatusCreated:
		var p petstore.Pet
		if json.Unmarshal(body, &p) == nil {
			if c.acked.pets[p.ID] != "" {
				c.twice = append(c.twice, name)
			}
			c.acked.pets[p.ID] = name
		}
	default:
		c.other++
	}
	if resp.Close {
		c.closed++
	}
	return !resp.Close
}
