//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

// fill fills the cluster. Each server then refuses to store anything and serves
// everything else. After the commands in docs/cluster.md, writes must go on. Room
// is made by deleting keys, or else by raising the quota.
func fill(deletes bool) func(*testing.T, *cluster, *load) {
	return func(t *testing.T, c *cluster, _ *load) {
		status, err := c.client.Status(t.Context(), c.members[0].URL)
		if err != nil {
			t.Fatal(err)
		}
		quota := status.DbSize + 32<<20
		c.setQuota(t, quota)
		// The keys are those of another application.
		junk, n := strings.Repeat("x", 1<<20), 0
		etcd.Eventually(t, "the quota", func() error {
			n++
			_, err := c.client.Put(t.Context(), fmt.Sprint("other/", n), junk)
			if errors.Is(err, rpctypes.ErrNoSpace) {
				return nil
			}
			return fmt.Errorf("key %d: %v", n, err)
		})
		for _, s := range c.servers {
			for _, path := range []string{"/pets", "/messages"} {
				r := ask(t, s, "POST", path, `{"name":"Rex","categoryId":4,"message":"feed Rex"}`)
				if r.Status != http.StatusInsufficientStorage || !strings.Contains(r.Body, `"status":507`) {
					t.Errorf("POST %s: %d %s; want 507 and an Error", path, r.Status, r.Body)
				}
			}
			for _, target := range []string{"/pets/1", "/pets?limit=100", "/pets?status=sold&limit=2", "http://" + s.Host() + "/readyz"} {
				if r := ask(t, s, "GET", target, ""); r.Status != http.StatusOK {
					t.Errorf("GET %s: %d %s; want 200", target, r.Status, r.Body)
				}
			}
		}
		if deletes {
			_, err = operate(t, c, "etcdctl del --prefix other/")
		} else {
			c.setQuota(t, 2*quota)
		}
		steps := documented(t, "*No room.*")
		var out string
		if err == nil {
			out, err = operate(t, c, steps)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s\n%s", steps, out)
	}
}

// setQuota restarts every member.
func (c *cluster) setQuota(t *testing.T, quota int64) {
	t.Helper()
	for _, m := range c.members {
		m.Args = append(slices.Clip(m.Args), fmt.Sprint("--quota-backend-bytes=", quota))
		c.renew(t, m)
	}
}

// ask sends a request until the response is not 503: on a busy machine the
// members may elect a new leader at any time.
func ask(t *testing.T, s *server, method, target, body string) (r process.Response) {
	t.Helper()
	etcd.Eventually(t, "a response", func() (err error) {
		r, err = s.Send(method, target, body)
		if err == nil && r.Status == http.StatusServiceUnavailable {
			err = errors.New(r.Body)
		}
		return err
	})
	return r
}
