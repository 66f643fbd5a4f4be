//go:build linux

package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// cluster is a running cluster of three members and some servers.
type cluster struct {
	dir     string
	key     string // API key
	members []*etcd.Member
	cables  map[*etcd.Member]*cable // none without network namespaces
	servers []*server
	started int // servers, also those that are not in servers
	client  *clientv3.Client
	loads   []*load // that have ended
}

// newCluster starts a cluster that ends with the test. args are more flags of
// etcd.
func newCluster(t testing.TB, servers int, args ...string) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{dir: dir, members: etcd.NewMembers(filepath.Join(bin, "etcd"), dir, 3, args...), cables: map[*etcd.Member]*cable{}}
	if namespaced {
		for _, m := range c.members {
			cable := plug(t, "")
			c.cables[m] = cable
			m.URL, m.PeerURL = "http://"+cable.addr+":2379", "http://"+cable.addr+":2380"
			m.Program = append(inNamespaceOf(cable.pid), m.Program...)
		}
	}
	etcd.Serve(t, c.members)
	c.client = newClient(t, etcd.URLs(c.members)...)
	for _, m := range c.members {
		eventually(t, m.Name+"'s health", func() error { return healthy(t, m) })
	}
	for range servers {
		c.servers = append(c.servers, c.serve(t))
	}
	return c
}

func newClient(t testing.TB, endpoints ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// restart starts a member that does not run.
func (c *cluster) restart(t testing.TB, m *etcd.Member) {
	t.Helper()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
}

// healthy returns why a member does not serve a linearizable read, nil if it
// does.
func healthy(t testing.TB, m *etcd.Member) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.URL}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = client.Get(clientv3.WithRequireLeader(ctx), "health")
	return err
}

// leader waits until a majority of the members agrees on a leader, and returns
// it.
func (c *cluster) leader(t testing.TB) (leader *etcd.Member) {
	t.Helper()
	eventually(t, "a leader", func() error {
		votes, members := map[uint64]int{}, map[uint64]*etcd.Member{}
		for _, m := range c.members {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			status, err := c.client.Status(ctx, m.URL)
			cancel()
			if err == nil {
				votes[status.Leader]++
				members[status.Header.MemberId] = m
			}
		}
		for id, m := range members {
			if votes[id] > len(c.members)/2 {
				leader = m
				return nil
			}
		}
		return fmt.Errorf("votes by member: %v", votes)
	})
	return leader
}

// follower returns a member that does not lead.
func (c *cluster) follower(t testing.TB) *etcd.Member {
	t.Helper()
	if c.leader(t) == c.members[0] {
		return c.members[1]
	}
	return c.members[0]
}

// newStore lets servers make the store.
const newStore = "PETSTORE_NEW_STORE=true"

// server is a reference server, which can be started again.
type server struct {
	process.Server
	args []string
}

// serve starts one more server, which ends with the test.
func (c *cluster) serve(t testing.TB, args ...string) *server {
	t.Helper()
	program, keys := filepath.Join(bin, "refserver-etcd"), filepath.Join(c.dir, "keys")
	first := c.started % len(c.members) // each server asks another member first
	c.started++
	endpoints := slices.Concat(etcd.URLs(c.members[first:]), etcd.URLs(c.members[:first]))
	if c.key == "" {
		_, key, _ := process.Run(t, process.Command(c.dir, program, "keys", "create", "-keys="+keys, "tests"))
		c.key = strings.TrimSpace(key)
	}
	s := &server{Server: process.Server{Dir: c.dir, Key: c.key, Client: client}}
	s.args = append([]string{program, "-addr=" + etcd.FreeAddress(), "-admin-addr=" + etcd.FreeAddress(), "-keys=" + keys, "-etcd=" + strings.Join(endpoints, ",")}, args...)
	t.Cleanup(func() { s.Kill() })
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// start starts a server that does not run. It has the same addresses each time.
func (s *server) start() (err error) {
	cmd := process.Command(s.Dir, s.args...)
	cmd.Env = append(cmd.Env, newStore)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if s.Process, err = process.Start(cmd); err != nil {
		return err
	}
	addrs, err := s.Serving()
	if s.URL == "" {
		s.Addresses = addrs
	}
	return err
}

// stop stops a server with SIGTERM.
func (s *server) stop() error {
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	code, err := s.Process.Wait()
	if err == nil && code != 0 {
		err = fmt.Errorf("the server ended with exit code %d:\n%s", code, s.Tail())
	}
	return err
}

// client reuses its connections.
var client = &http.Client{Timeout: 15 * time.Second, Transport: transport{&http.Transport{MaxIdleConnsPerHost: 64}}}

// transport sends no request twice, as net/http does with an Idempotency-Key, and
// keeps the header field Connection, which net/http removes.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.GetBody = nil
	resp, err := t.Transport.RoundTrip(&once)
	if err == nil && resp.Close {
		resp.Header.Set("Connection", "close")
	}
	return resp, err
}

// refusal is the error of a response that is not the expected one.
type refusal struct{ process.Response }

func (r refusal) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Body) }

// create creates a pet with that name. key is the Idempotency-Key, "" for none.
// An error says why the creation was not acknowledged.
func (s *server) create(name, key string) (petstore.Pet, process.Response, error) {
	r, err := s.Send("POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, name), "Idempotency-Key", key)
	var pet petstore.Pet
	if err == nil && r.Status != http.StatusCreated {
		err = refusal{r}
	}
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), &pet)
	}
	if err == nil && pet.Name != name {
		err = fmt.Errorf("another pet: %s", r.Body)
	}
	return pet, r, err
}

// list returns all pets of a status, "" for all, with IDs above after.
func (s *server) list(status string, after int64) (all []petstore.Pet, err error) {
	for {
		page, more, err := s.page(status, after, petstore.MaxLimit)
		if all = append(all, page...); err != nil || !more {
			return all, err
		}
		after = page[len(page)-1].ID
	}
}

// page returns a list page, and whether there are more.
func (s *server) page(status string, after int64, limit int) (pets []petstore.Pet, more bool, err error) {
	target := fmt.Sprintf("/pets?limit=%d", limit)
	if status != "" {
		target += "&status=" + status
	}
	if after > 0 {
		target += "&cursor=" + string(petstore.CursorAfter(after))
	}
	r, err := s.Send("GET", target, "")
	if err == nil && r.Status != http.StatusOK {
		err = refusal{r}
	}
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), &pets)
	}
	return pets, strings.Contains(r.Header.Get("Link"), `rel="next"`), err
}

// refused reports whether err is a response with that status.
func refused(err error, status int) bool {
	var r refusal
	return errors.As(err, &r) && r.Status == status
}

// eventually waits until ok returns nil, and returns how long that took. It fails
// the test after some time, which even a busy machine does not need.
func eventually(t testing.TB, what string, ok func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := ok()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("waiting for %s: %v", what, err)
		}
	}
}
