//go:build linux

package faulttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

var full = flag.Bool("full", false, "cause all faults, several times")

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// cluster is a Patroni cluster of three nodes and some servers in front of it.
type cluster struct {
	*postgres.Cluster
	servers []*server
	loads   []*load
}

// newCluster starts a cluster with two servers, of which each has another node first
// in its URL.
func newCluster(t *testing.T, settings ...string) *cluster {
	t.Helper()
	c := &cluster{Cluster: postgres.RunCluster(t, "../../../../deploy/patroni.yml", settings...)}
	dir := t.TempDir()
	for i := range 2 {
		c.servers = append(c.servers, newServer(t, dir, c.URL("postgres", slices.Concat(c.Nodes[i:], c.Nodes[:i])...)))
	}
	return c
}

// node returns the node with a role.
func (c *cluster) node(t *testing.T, role string) (n *postgres.Node) {
	t.Helper()
	process.Eventually(t, "a node with the role "+role, func() (err error) {
		n, err = c.Node(role)
		return err
	})
	return n
}

// ready waits until all nodes run and follow the primary.
func (c *cluster) ready(t *testing.T) {
	t.Helper()
	process.Eventually(t, "the cluster", c.Ready)
}

// server is a reference server.
type server struct {
	*process.Server
	restart func() // starts it again, with the same addresses
}

// newServer starts a server in a directory. The first one creates an API key, which
// the others in the directory use too.
func newServer(t *testing.T, dir, url string) *server {
	t.Helper()
	args := []string{process.Build(t, "example.com/animalstore/cmd/refserver-postgres"),
		"-addr=" + process.FreeAddress(), "-admin-addr=" + process.FreeAddress(), "-postgres=" + url}
	command := func() *exec.Cmd {
		cmd := process.Command(dir, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	s := &server{Server: process.Serve(t, command())}
	s.restart = func() { s.Process = process.Serve(t, command()).Process } // t is that of the whole cluster
	s.Client = &http.Client{Timeout: process.Patience, Transport: transport{&http.Transport{MaxIdleConnsPerHost: 64}}}
	return s
}

// transport sends no request twice, as net/http does with an Idempotency-Key.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.GetBody = nil
	return t.Transport.RoundTrip(&once)
}

// do sends a request with an Idempotency-Key, "" for none, and decodes the response,
// which must have that status.
func (s *server) do(status int, v any, method, target, body, key string) (process.Response, error) {
	r, err := s.Send(method, target, body, "Idempotency-Key", key)
	if err == nil && r.Status != status {
		err = fmt.Errorf("%d %s", r.Status, r.Body)
	}
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), v)
	}
	return r, err
}

// create creates a pet with that name. An error says why it was not acknowledged.
func (s *server) create(name, key string) (pet petstore.Pet, err error) {
	r, err := s.do(http.StatusCreated, &pet, "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, name), key)
	if err == nil && pet.Name != name {
		err = fmt.Errorf("another pet: %s", r.Body)
	}
	return pet, err
}

// list returns all pets, or those of a status, with IDs above after.
func (s *server) list(t *testing.T, status string, after int64) (all []petstore.Pet) {
	t.Helper()
	for more := true; more; {
		target := fmt.Sprintf("/pets?limit=%d", petstore.MaxLimit)
		if status != "" {
			target += "&status=" + status
		}
		if after > 0 {
			target += "&cursor=" + string(petstore.CursorAfter(after))
		}
		var page []petstore.Pet
		process.Eventually(t, "a list", func() error {
			r, err := s.do(http.StatusOK, &page, "GET", target, "", "")
			more = strings.Contains(r.Header.Get("Link"), `rel="next"`)
			return err
		})
		if all = append(all, page...); len(page) > 0 {
			after = page[len(page)-1].ID
		}
	}
	return all
}
