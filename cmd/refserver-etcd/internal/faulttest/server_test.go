//go:build linux

package faulttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// server is a reference server, which can be started again with the same
// addresses.
type server struct {
	*process.Server
	command func() *exec.Cmd
}

// serve starts one more server, which ends with the test of the cluster.
func (c *cluster) serve(args ...string) *server {
	c.t.Helper()
	first := c.started % len(c.members) // each server asks another member first
	c.started++
	endpoints := slices.Concat(etcd.URLs(c.members[first:]), etcd.URLs(c.members[:first]))
	args = append([]string{filepath.Join(bin, "refserver-etcd"), "-addr=" + etcd.FreeAddress(), "-admin-addr=" + etcd.FreeAddress(),
		"-drain=2m", "-new-store", "-etcd=" + strings.Join(endpoints, ",")}, args...)
	command := func() *exec.Cmd {
		cmd := process.Command(c.dir, args...) // in which the first server creates the key file
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	s := &server{process.Serve(c.t, command()), command}
	if c.key == "" {
		var err error
		if c.key, err = s.Process.Key(); err != nil {
			c.t.Fatal(err)
		}
	}
	s.Key, s.Client = c.key, client
	return s
}

// restartServer starts a server that does not run. Clients may use it meanwhile.
func (c *cluster) restartServer(s *server) {
	c.t.Helper()
	s.Process = process.Serve(c.t, s.command()).Process
}

// client reuses its connections.
var client = &http.Client{Timeout: process.Patience, Transport: transport{&http.Transport{MaxIdleConnsPerHost: 64}}}

// transport sends no request twice, as net/http does with an Idempotency-Key.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.GetBody = nil
	return t.Transport.RoundTrip(&once)
}

// errRefused is in the error of a complete response that is not the wanted one.
var errRefused = errors.New("refused")

// do sends a request with an Idempotency-Key, "" for none, and decodes the
// response, which must have that status.
func (s *server) do(status int, v any, method, target, body, key string) (process.Response, error) {
	r, err := s.Send(method, target, body, "Idempotency-Key", key)
	if err == nil && r.Status != status {
		err = fmt.Errorf("%w: %d %s", errRefused, r.Status, r.Body)
	}
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), v)
	}
	return r, err
}

// create creates a pet with that name. An error says why the creation was not
// acknowledged.
func (s *server) create(name, key string) (pet petstore.Pet, r process.Response, err error) {
	r, err = s.do(http.StatusCreated, &pet, "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, name), key)
	if err == nil && pet.Name != name {
		err = fmt.Errorf("another pet: %s", r.Body)
	}
	return pet, r, err
}

// list returns all pets of a status, "" for any, with IDs above after. The members
// may need long to elect a leader.
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
		etcd.Eventually(t, "a list", func() error {
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
