package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
	"example.com/animalstore/petstore"
)

// The requests that are sent before the cluster is full.
const (
	knownPet  = `{"name":"known","categoryId":1,"status":"sold"}`
	knownText = `{"message":"feed them"}`
)

// TestQuota fills the cluster twice under load, and checks what every server then
// refuses and what not. After the steps in docs/cluster.md, writes must go on.
func TestQuota(t *testing.T) {
	c := startCluster(t, local.Options{Servers: 3, MemberArgs: []string{"--quota-backend-bytes=33554432"}})
	steps := documented(t, "*No room.*")
	if a := ask(t, "POST", c.Servers[0].URL()+"/pets", c.Key, knownPet, "known"); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	queued := ask(t, "POST", c.Servers[0].URL()+"/messages", c.Key, knownText, "known")
	if queued.status != http.StatusAccepted {
		t.Fatalf("%d %s", queued.status, queued.body)
	}
	for _, tt := range []struct {
		name string
		room func(*testing.T)
	}{
		{"space is freed", func(t *testing.T) { operate(t, c, "etcdctl del --prefix other/") }},
		{"the quota is raised", func(t *testing.T) {
			for _, m := range c.Members {
				m.AddArgs("--quota-backend-bytes=134217728")
				renew(t, c, m)
			}
		}},
	} {
		if !t.Run(tt.name, func(t *testing.T) {
			l := startLoad(c)
			l.progress(t)
			fillUp(t, c)
			for _, s := range c.Servers {
				checkFull(t, s.URL(), c.Key)
				if a := ask(t, "POST", s.URL()+"/messages", c.Key, knownText, "known"); string(a.body) != string(queued.body) {
					t.Errorf("a repeated message: %d %s; want %s", a.status, a.body, queued.body)
				}
			}
			tt.room(t)
			t.Logf("%s\n%s", steps, operate(t, c, steps))
			l.progress(t)
			l.finish(t)
		}) {
			break
		}
	}
}

// fillUp stores keys of another application until the cluster raises the alarm
// that it is full.
func fillUp(t *testing.T, c *local.Cluster) {
	t.Helper()
	junk, n := strings.Repeat("x", 1<<20), 0
	eventually(t, "the alarm", func() error {
		for range 64 {
			n++
			if _, err := c.Client().Put(t.Context(), fmt.Sprintf("other/%d", n), junk); errors.Is(err, rpctypes.ErrNoSpace) {
				break
			}
		}
		alarms, err := c.Client().AlarmList(t.Context())
		if err != nil {
			return err
		}
		for _, a := range alarms.Alarms {
			if a.Alarm == etcdserverpb.AlarmType_NOSPACE {
				return nil
			}
		}
		return errors.New("it is not raised")
	})
}

// ask sends a request until the response is not 503: on a busy machine the
// members may elect a new leader at any time.
func ask(t *testing.T, method, url, key, body, once string) (a response) {
	t.Helper()
	eventually(t, "a response", func() (err error) {
		a, err = send(method, url, key, body, once)
		if err == nil && a.status == http.StatusServiceUnavailable {
			err = fmt.Errorf("%d %s", a.status, a.body)
		}
		return err
	})
	return a
}

// checkFull checks what a server does while the cluster is full: it refuses to
// store anything and serves everything else.
func checkFull(t *testing.T, base, key string) {
	t.Helper()
	for _, path := range []string{"/pets", "/messages"} {
		a := ask(t, "POST", base+path, key, `{"name":"Rex","categoryId":4,"message":"feed Rex"}`, "new")
		var refusal struct {
			Code, Message string
			Status        int
		}
		if err := json.Unmarshal(a.body, &refusal); err != nil || a.status != http.StatusInsufficientStorage ||
			refusal.Status != a.status || refusal.Code != string(petstore.CodeFull) || refusal.Message == "" {
			t.Errorf("POST %s: %d %s; want 507 and an Error", path, a.status, a.body)
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("POST %s: Content-Type %q", path, got)
		}
	}
	var known petstore.Pet
	a := ask(t, "POST", base+"/pets", key, knownPet, "known")
	if err := json.Unmarshal(a.body, &known); err != nil || a.status != http.StatusCreated || known.ID != 1 {
		t.Errorf("a repeated creation: %d %s; want 201 and the pet 1", a.status, a.body)
	}
	for _, path := range []string{"/v1/pets/1", "/v1/pets?limit=100", "/v1/pets?status=sold&limit=2", "/readyz"} {
		if a := ask(t, "GET", strings.TrimSuffix(base, "/v1")+path, key, "", ""); a.status != http.StatusOK {
			t.Errorf("GET %s: %d %s; want 200", path, a.status, a.body)
		}
	}
}
