package etcdstore_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// Many readers go on when their member is lost, even if the token of the user has
// expired on the other members. To issue a token, a member computes a slow hash
// of the password.
func TestExpiredTokens(t *testing.T) {
	const readers = 100
	urls := []string{freeURL(), freeURL(), freeURL()}
	members := newCluster(t, urls, "--auth-token-ttl=1")
	root := newClient(t, urls...)
	first := slices.IndexFunc(urls, func(url string) bool { // not the leader, so that there is no election
		status, err := root.Status(t.Context(), url)
		return err == nil && status.Header.MemberId != status.Leader
	})
	addUsers(t, root)
	var proxies []*proxy
	var endpoints []string
	for i := range urls {
		p := newProxy(t, urls[(first+i)%len(urls)])
		proxies, endpoints = append(proxies, p), append(endpoints, p.url)
	}
	s := open(t, etcdstore.Config{Endpoints: endpoints, Username: "anna", Password: password("apple")})
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range proxies { // get a token from each member
		p.gone.Store(true)
		if _, err := s.GetPet(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		p.gone.Store(false)
	}

	time.Sleep(3 * time.Second)
	members[first].Kill()
	took := make(chan time.Duration, readers)
	for range readers {
		go func() {
			start := time.Now()
			if _, err := s.GetPet(t.Context(), 1); err != nil {
				t.Error(err)
			}
			took <- time.Since(start)
		}()
	}
	longest := time.Duration(0)
	for range readers {
		longest = max(longest, <-took)
	}
	t.Logf("the slowest of %d reads took %v", readers, longest)
	if longest > time.Second {
		t.Error("the slowest read took more than a second")
	}
}

// A password that was wrong is not sent again with every call. Calls soon succeed
// when it is right.
func TestWrongPassword(t *testing.T) {
	url := freeURL()
	newCluster(t, []string{url}, "--auth-token-ttl=1")
	addUsers(t, newClient(t, url))
	var sent atomic.Int64
	var word atomic.Value
	word.Store("apple")
	s := open(t, etcdstore.Config{Endpoints: []string{url}, Username: "anna", Password: func() (string, error) {
		sent.Add(1)
		return word.Load().(string), nil
	}})
	root, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Username: "root", Password: "secret", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.UserChangePassword(t.Context(), "anna", "cherry"); err != nil {
		t.Fatal(err)
	}
	sent.Store(0)
	calls, start := 0, time.Now()
	for ; time.Since(start) < 3*time.Second; calls++ {
		if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the password is wrong") {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if t.Logf("%d calls sent the password %d times", calls, sent.Load()); sent.Load() > int64(time.Since(start)/time.Second)+1 {
		t.Error("that is more than once a second")
	}
	word.Store("cherry")
	eventually(t, "calls succeed", func() bool { return s.Ready(t.Context()) == nil })
}

// Endpoints of two clusters are refused, even if one responds late.
func TestTwoClusters(t *testing.T) {
	other := freeURL()
	late := newProxy(t, other)
	late.gone.Store(true)
	prefix := newPrefix(t)
	open(t, etcdstore.Config{Prefix: prefix}).Close()
	var log process.Output
	config := etcdstore.Config{Endpoints: []string{late.url, endpoint}, Prefix: prefix, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s := open(t, config)
	newCluster(t, []string{other})
	late.gone.Store(false)
	eventually(t, "the log names the other cluster", func() bool {
		return strings.Contains(log.String(), "url="+late.url+` state="is not used: it belongs to cluster `)
	})
	for range 100 {
		if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := newClient(t, other).Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil || resp.Count > 0 {
		t.Errorf("the other cluster holds %d keys, %v", resp.Count, err)
	}
	refuse(t, config, "the endpoints belong to different clusters: "+late.url+" to ")
	refuse(t, config, endpoint+" to ")
}

// A store is made only on request, and only if every endpoint responds.
func TestNewStore(t *testing.T) {
	prefix, silent := newPrefix(t), newProxy(t, endpoint)
	silent.gone.Store(true)
	both := []string{silent.url, endpoint}
	if err := refuse(t, etcdstore.Config{Endpoints: both, Prefix: prefix}, prefix); !errors.Is(err, etcdstore.ErrNoStore) {
		t.Errorf("%v", err)
	}
	refuse(t, etcdstore.Config{Endpoints: both, Prefix: prefix, NewStore: true}, silent.url+" does not respond")
	resp, err := newClient(t, endpoint).Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil || resp.Count > 0 {
		t.Errorf("there are %d keys, %v", resp.Count, err)
	}
	for want := range int64(3) { // NewStore does nothing to a store that exists
		s := open(t, etcdstore.Config{Prefix: prefix})
		if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != want {
			t.Errorf("%+v, %v; want %d pets", stats, err, want)
		}
		if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
			t.Error(err)
		}
	}
}

// The log has one line about the start and one about each change in the state of
// an endpoint, even of one that the store does not use. Errors name the endpoint.
func TestEndpointStates(t *testing.T) {
	p, prefix := newProxy(t, endpoint), newPrefix(t)
	open(t, etcdstore.Config{Prefix: prefix})
	var log process.Output
	wrong := freeURL()
	s := open(t, etcdstore.Config{
		Endpoints:      []string{endpoint, p.url, wrong},
		Prefix:         prefix,
		RequestTimeout: 10 * time.Second,
		Logger:         slog.New(slog.NewTextHandler(&log, nil)),
	})
	for _, want := range []string{`msg="the store is open" cluster=`, " prefix=" + prefix, " pets=0", endpoint + "=responds", p.url + "=responds", wrong + `="does not respond: `, "connection refused"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log is\n%swant %s", log.String(), want)
		}
	}
	p.gone.Store(true)
	eventually(t, "the loss is logged", func() bool {
		return strings.Contains(log.String(), "url="+p.url+` state="does not respond: `)
	})
	p.gone.Store(false)
	eventually(t, "the return is logged", func() bool { return strings.Contains(log.String(), "url="+p.url+" state=responds") })
	if n := strings.Count(log.String(), "\n"); n != 3 {
		t.Errorf("the log has %d lines, want 3:\n%s", n, log.String())
	}
	all := s.Endpoints()
	if len(all) != 3 || all[0].State != "responds" || all[0].Calls == 0 || all[0].Failed > 0 || all[0].Seconds == 0 || all[2].URL != wrong || all[2].Failed == 0 {
		t.Errorf("%+v", all)
	}

	alone := open(t, etcdstore.Config{Endpoints: []string{p.url}, Prefix: prefix, RequestTimeout: 4 * time.Second})
	p.hold.Store(true)
	if err := alone.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), p.url+": no response within ") {
		t.Errorf("a silent endpoint: %v", err)
	}
	p.gone.Store(true)
	if err := alone.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), p.url+": ") {
		t.Errorf("a lost endpoint: %v", err)
	}
}

// A creation writes nothing into a cluster that has replaced the store's,
// even if it is the first of its process.
func TestRebuiltCluster(t *testing.T) {
	first, second := freeURL(), freeURL()
	newCluster(t, []string{first})
	newCluster(t, []string{second})
	p := newProxy(t, first)
	s := open(t, etcdstore.Config{Endpoints: []string{p.url}})
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, etcdstore.Config{Endpoints: []string{p.url}})
	p.to.Store(&second)
	p.gone.Store(true) // the connection ends with the next bytes
	time.AfterFunc(300*time.Millisecond, func() { p.gone.Store(false) })
	var wg sync.WaitGroup
	for _, s := range []*etcdstore.Store{s, fresh} {
		wg.Go(func() {
			for s.Err() == nil {
				if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err == nil {
					t.Error("the other cluster accepted a creation")
				}
			}
			t.Log(s.Err())
		})
	}
	wg.Wait()
	resp, err := newClient(t, second).Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) > 0 {
		t.Errorf("the new cluster holds %v, %v", resp.Kvs, err)
	}
}
