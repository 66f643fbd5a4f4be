package etcdstore_test

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// refuse opens a store that cannot be opened, until the error contains want: on a
// busy machine it may be another one at first.
func refuse(t *testing.T, c etcdstore.Config, want string) {
	t.Helper()
	etcd.Eventually(t, fmt.Sprintf("the error says %q", want), func() error {
		s, err := etcdstore.Open(t.Context(), c)
		if err == nil {
			s.Close()
			t.Fatalf("it opened; want an error that says %q", want)
		}
		if !strings.Contains(err.Error(), want) {
			return err
		}
		return nil
	})
}

// A store is made only on request, in an unused prefix, and only if every endpoint
// responds.
func TestOpenErrors(t *testing.T) {
	here, client := []string{endpoint}, clientOf(t, endpoint)
	unused, silent := newPrefix(t), "http://"+etcd.FreeAddress()
	holds := func(key, value string) etcdstore.Config {
		prefix := newPrefix(t)
		if _, err := client.Put(t.Context(), prefix+key, value); err != nil {
			t.Fatal(err)
		}
		return etcdstore.Config{Endpoints: here, Prefix: prefix, NewStore: true}
	}
	for _, tt := range []struct {
		name string
		c    etcdstore.Config
		want string
	}{
		{"no endpoints", etcdstore.Config{}, "no endpoints"},
		{"no scheme", etcdstore.Config{Endpoints: []string{"127.0.0.1:2379"}}, "must be a URL"},
		{"no port", etcdstore.Config{Endpoints: []string{"http://127.0.0.1"}}, "must be a URL"},
		{"mixed", etcdstore.Config{Endpoints: []string{"http://127.0.0.1:2379", "https://127.0.0.1:2379"}}, "all must be http or all https"},
		{"TLS for http", etcdstore.Config{Endpoints: here, TLS: func() (*tls.Config, error) { return nil, nil }}, "certificates need https"},
		{"user without password", etcdstore.Config{Endpoints: here, Username: "anna"}, "must be given together"},
		{"nothing listens", etcdstore.Config{Endpoints: []string{silent}}, "no member of the cluster can be used"},
		{"https to http", etcdstore.Config{Endpoints: []string{secure(endpoint)}}, "is it http?"},
		{"no store", etcdstore.Config{Endpoints: []string{silent, endpoint}, Prefix: unused}, "there is no store under the prefix"},
		{"new store without an endpoint", etcdstore.Config{Endpoints: []string{silent, endpoint}, Prefix: unused, NewStore: true}, silent + " does not respond"},
		{"other key", holds("something", "else"), "another application uses the prefix"},
		{"newer layout", holds("s", etcdstore.Sealed("s", []byte{2})), "made by a newer release: its layout has version 2"},
	} {
		t.Run(tt.name, func(t *testing.T) { refuse(t, tt.c, tt.want) })
	}
	if n := count(t, client, unused); n > 0 {
		t.Errorf("%d keys were written", n)
	}
}

// Endpoints of two clusters are refused, even if one responds late.
func TestTwoClusters(t *testing.T) {
	late, prefix := newMembers(t.TempDir(), 1)[0], newPrefix(t)
	open(t, etcdstore.Config{Prefix: prefix}).Close()
	var log process.Output
	config := etcdstore.Config{Endpoints: []string{late.URL, endpoint}, Prefix: prefix, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s := open(t, config)
	etcd.Serve(t, []*etcd.Member{late})
	etcd.Eventually(t, "the log names the other cluster", logged(&log, "url="+late.URL+` state="is not used: it belongs to cluster `))
	for range 100 {
		create(t, s, petstore.NewPet{}, "")
	}
	if n := count(t, clientOf(t, late.URL), ""); n > 0 {
		t.Errorf("the other cluster holds %d keys", n)
	}
	refuse(t, config, "the endpoints belong to different clusters: "+late.URL+" responds, "+endpoint+" is not used: it belongs to cluster ")
}
