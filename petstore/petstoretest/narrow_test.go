package petstoretest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/petstore/petstoretest"
)

// narrow are clients that work with a plain server only, and difficulties that
// make them fail. What they get wrong does not show in their requests.
var narrow = []struct {
	does         string
	difficulties []string
	client       func(handwritten) error
}{
	{"expects a list in the order of creation", []string{"list-descending", "list-by-name", "list-random"}, inOrder},
	{"stops at a page that is not full", []string{"short-pages"}, untilNotFull},
	{"refuses unknown members", []string{"extra-members"}, createReading(func(resp *http.Response, body []byte) error {
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		return dec.Decode(new(pet))
	})},
	{"reads a pet with a regular expression", []string{"member-order"}, createReading(matches(`"id": *-?\d+,\s*"name"`))},
	{"searches the text of a response for a name", []string{"escapes"}, createReading(matches(`"Rex"`))},
	{"expects a body to begin with a brace", []string{"white-space"}, createReading(matches(`^\{`))},
	{"reads as many bytes as Content-Length says", []string{"chunked"}, createReading(func(resp *http.Response, _ []byte) error {
		if resp.ContentLength < 0 {
			return errors.New("no Content-Length")
		}
		return nil
	})},
	{"expects 202 for a message", []string{"message-status"}, sending("POST", "/messages", map[string]string{"message": "hello"}, func(resp *http.Response, _ []byte) error {
		if resp.StatusCode != http.StatusAccepted {
			return errors.New(resp.Status)
		}
		return nil
	})},
	{"knows a refused limit by its code", []string{"unknown-codes"}, sending("GET", "/pets?limit=0", nil, matches(`"code":"invalid"`))},
	{"warns of the date in Sunset", []string{"no-deprecation"}, func(c handwritten) error {
		p, err := c.create(pet{Name: "Rex"})
		if err != nil {
			return err
		}
		return sending("GET", fmt.Sprint("/pets/", p.ID), nil, func(resp *http.Response, _ []byte) error {
			_, err := http.ParseTime(resp.Header.Get("Sunset"))
			return err
		})(c)
	}},
	{"sends all requests over one connection", []string{"connection-close"}, overOneConnection},
}

// matches returns an error for a body that does not match.
func matches(pattern string) func(*http.Response, []byte) error {
	re := regexp.MustCompile(pattern)
	return func(_ *http.Response, body []byte) error {
		if !re.Match(body) {
			return fmt.Errorf("%s does not match %s", body, pattern)
		}
		return nil
	}
}

// sending is a client that sends a request ten times and reads the responses.
func sending(method, path string, in any, read func(*http.Response, []byte) error) func(handwritten) error {
	return func(c handwritten) error {
		for i := range 10 {
			resp, body, err := c.send(method, c.base+path, fmt.Sprint("once-", i), in)
			if err == nil {
				err = read(resp, body)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func createReading(read func(*http.Response, []byte) error) func(handwritten) error {
	return sending("POST", "/pets", pet{Name: "Rex"}, read)
}

func inOrder(c handwritten) error {
	names := []string{"e", "d", "c", "b", "a"}
	for _, name := range names {
		if _, err := c.create(pet{Name: name}); err != nil {
			return err
		}
	}
	all, err := c.list()
	var got []string
	for _, p := range all {
		got = append(got, p.Name)
	}
	if err == nil && !slices.Equal(got, names) {
		err = fmt.Errorf("listed %q", got)
	}
	return err
}

func untilNotFull(c handwritten) error {
	for i := range 30 {
		if _, err := c.create(pet{Name: fmt.Sprint(i)}); err != nil {
			return err
		}
	}
	target, _ := url.Parse(c.base + "/pets?limit=7")
	for n := 0; ; {
		var page []pet
		header, err := c.call("GET", target.String(), nil, &page)
		if err != nil {
			return err
		}
		if n += len(page); len(page) < 7 {
			if n < 30 {
				err = fmt.Errorf("listed %d of 30 pets", n)
			}
			return err
		}
		if target, err = target.Parse(nextLink.FindStringSubmatch(header.Get("Link"))[1]); err != nil {
			return err
		}
	}
}

func overOneConnection(c handwritten) error {
	u, err := url.Parse(c.base)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 30 {
		if _, err := fmt.Fprintf(conn, "GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", c.key); err != nil {
			return err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		if _, err := bufio.NewReader(resp.Body).Discard(int(resp.ContentLength)); err != nil {
			return err
		}
	}
	return nil
}

// TestNarrowClients: each client works with a plain server, and with one of the
// first seeds the difficulty makes it fail.
func TestNarrowClients(t *testing.T) {
	fails := func(t *testing.T, client func(handwritten) error, opts ...petstoretest.Option) bool {
		t.Helper()
		srv, err := petstoretest.Start(opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		return client(handwritten{base: srv.URL, key: srv.Key}) != nil
	}
	for _, n := range narrow {
		for _, difficulty := range n.difficulties {
			t.Run(difficulty+": "+n.does, func(t *testing.T) {
				t.Parallel()
				if fails(t, n.client) {
					t.Fatal("it fails with a plain server")
				}
				for seed := range uint64(20) {
					if fails(t, n.client, petstoretest.Difficult(seed, difficulty)) {
						return
					}
				}
				t.Error("it works with the difficulty")
			})
		}
	}
}

// A client that expects responses at once fails, whatever else the machine does.
func TestHastyClient(t *testing.T) {
	srv, err := petstoretest.Start(petstoretest.Difficult(1, "delay"))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	hasty := http.Client{Timeout: 3 * time.Millisecond}
	for range 1000 {
		resp, err := hasty.Get(srv.URL + "/pets")
		if err != nil {
			return
		}
		resp.Body.Close()
	}
	t.Error("no response came late")
}

// Each difficulty catches a client.
func TestEachDifficultyCatches(t *testing.T) {
	caught := map[string]bool{"delay": true} // TestHastyClient
	for _, m := range mistakes {
		caught[m.difficulty] = true
	}
	for _, n := range narrow {
		for _, difficulty := range n.difficulties {
			caught[difficulty] = true
		}
	}
	for _, d := range petstoretest.Difficulties() {
		if !caught[d.Name] {
			t.Errorf("no client has a mistake that %s shows", d.Name)
		}
	}
}
