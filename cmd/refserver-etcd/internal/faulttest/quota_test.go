//go:build linux

package faulttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// TestQuota fills the cluster twice under load, and checks what every server then
// refuses and what it serves. After the commands in docs/cluster.md, writes must
// go on.
func TestQuota(t *testing.T) {
	c := newCluster(t, 3, "--quota-backend-bytes=33554432")
	steps := documented(t, "*No room.*")
	known := map[string]string{"/pets": `{"name":"known","categoryId":1,"status":"sold"}`, "/messages": `{"message":"known"}`}
	first := map[string]process.Response{}
	for path, body := range known {
		first[path] = ask(t, c.servers[0], "POST", path, body, "known")
	}
	for _, tt := range []struct {
		name string
		room func(*testing.T)
	}{
		{"space is freed", func(t *testing.T) {
			if out, err := operate(t, c, "etcdctl del --prefix other/"); err != nil {
				t.Fatal(out, err)
			}
		}},
		{"the quota is raised", func(t *testing.T) {
			for _, m := range c.members {
				m.Args = []string{"--quota-backend-bytes=134217728"}
				c.renew(t, m)
			}
		}},
	} {
		passed := t.Run(tt.name, func(t *testing.T) {
			l := startLoad(c, writers, c.servers...)
			l.progress(t)
			fillUp(t, c)
			for _, s := range c.servers {
				checkFull(t, s)
				for path, body := range known {
					if r := ask(t, s, "POST", path, body, "known"); r.Status != first[path].Status || r.Body != first[path].Body {
						t.Errorf("a repeated POST %s: %d %s; want %d %s", path, r.Status, r.Body, first[path].Status, first[path].Body)
					}
				}
			}
			tt.room(t)
			out, err := operate(t, c, steps)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s\n%s", steps, out)
			l.progress(t)
			l.finish(t)
		})
		if !passed {
			break
		}
	}
}

// fillUp stores keys of another application until the cluster has no space.
func fillUp(t *testing.T, c *cluster) {
	t.Helper()
	junk, n := strings.Repeat("x", 1<<20), 0
	eventually(t, "the quota", func() error {
		n++
		_, err := c.client.Put(t.Context(), fmt.Sprint("other/", n), junk)
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return nil
		}
		return fmt.Errorf("key %d: %v", n, err)
	})
}

// ask sends a request until the response is not 503: on a busy machine the
// members may elect a new leader at any time.
func ask(t *testing.T, s *server, method, target, body, key string) (r process.Response) {
	t.Helper()
	eventually(t, "a response", func() (err error) {
		r, err = s.Send(method, target, body, "Idempotency-Key", key)
		if err == nil && r.Status == http.StatusServiceUnavailable {
			err = errors.New(r.Body)
		}
		return err
	})
	return r
}

// checkFull checks what a server does while the cluster is full: it refuses to
// store anything and serves everything else.
func checkFull(t *testing.T, s *server) {
	t.Helper()
	for _, path := range []string{"/pets", "/messages"} {
		r := ask(t, s, "POST", path, `{"name":"Rex","categoryId":4,"message":"feed Rex"}`, "new")
		var body struct {
			Code, Message string
			Status        int
		}
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusInsufficientStorage ||
			body.Status != r.Status || body.Code != string(petstore.CodeFull) || body.Message == "" {
			t.Errorf("POST %s: %d %s; want 507 and an Error", path, r.Status, r.Body)
		}
	}
	for _, target := range []string{"/pets/1", "/pets?limit=100", "/pets?status=sold&limit=2", "http://" + s.Host() + "/readyz"} {
		if r := ask(t, s, "GET", target, "", ""); r.Status != http.StatusOK {
			t.Errorf("GET %s: %d %s; want 200", target, r.Status, r.Body)
		}
	}
}
