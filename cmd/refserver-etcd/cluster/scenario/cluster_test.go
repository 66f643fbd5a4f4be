package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"go.etcd.io/etcd/etcdctl/v3/ctlv3"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
	"example.com/animalstore/petstore"
)

func TestMain(m *testing.M) {
	local.Role()
	if os.Getenv(etcdctlVariable) != "" {
		ctlv3.MustStart()
		return
	}
	// All addresses are on this machine, also those of network namespaces.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		_ = os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// full says that scenarios run in the long form of docs/cluster.md.
var full = os.Getenv("CLUSTER_FULL") != ""

// either returns long in a full run, otherwise short.
func either[T any](long, short T) T {
	if full {
		return long
	}
	return short
}

// newCluster starts three members and some servers, which end with the test.
func newCluster(t *testing.T, servers int, network local.Network) *local.Cluster {
	t.Helper()
	return startCluster(t, local.Options{Servers: servers, Network: network})
}

func startCluster(t *testing.T, o local.Options) *local.Cluster {
	t.Helper()
	o.Dir, o.Members = t.TempDir(), 3
	c, err := local.Start(t.Context(), o)
	if errors.Is(err, local.ErrNoNamespaces) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

// response is the response of a server.
type response struct {
	status int
	body   []byte
	header http.Header
}

// client reuses its connections.
var client = &http.Client{
	Timeout:   15 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 64},
}

// send sends a request. If it returns an error there was no response, and the
// request may have been carried out.
func send(method, url, key, body, once string) (response, error) {
	req, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if once != "" {
		req.Header.Set("Idempotency-Key", once)
	}
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return response{}, err
	}
	return response{resp.StatusCode, b, resp.Header}, nil
}

// create creates a pet with that name. An error says why the creation was not
// acknowledged.
func create(base, key, name, once string) (id int64, err error) {
	a, err := send("POST", base+"/pets", key, fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, name), once)
	if err != nil {
		return 0, err
	}
	if a.status != http.StatusCreated {
		return 0, fmt.Errorf("%d %s", a.status, a.body)
	}
	var pet petstore.Pet
	if err := json.Unmarshal(a.body, &pet); err != nil || pet.Name != name {
		return 0, fmt.Errorf("another pet: %s", a.body)
	}
	return pet.ID, nil
}

// list returns all pets with that status ("": with any) and with ids above after,
// page by page.
func list(base, key, status string, after int64) ([]petstore.Pet, error) {
	var all []petstore.Pet
	for {
		url := fmt.Sprintf("%s/pets?limit=100", base)
		if status != "" {
			url += "&status=" + status
		}
		if after > 0 {
			url += "&cursor=" + string(petstore.CursorAfter(after))
		}
		a, err := send("GET", url, key, "", "")
		if err != nil {
			return nil, err
		}
		if a.status != http.StatusOK {
			return nil, fmt.Errorf("GET %s: %d %s", url, a.status, a.body)
		}
		var page []petstore.Pet
		if err := json.Unmarshal(a.body, &page); err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) == 0 || a.header.Get("Link") == "" {
			return all, nil
		}
		after = page[len(page)-1].ID
	}
}

// eventually waits until ok returns nil, and returns how long that took. It fails
// the test after a minute: even a busy machine needs less.
func eventually(t *testing.T, what string, ok func() error) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		err := ok()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
