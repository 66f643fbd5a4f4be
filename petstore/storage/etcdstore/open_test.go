package etcdstore_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// refuse opens a store that cannot be opened, and checks that the error contains
// want.
func refuse(t *testing.T, c etcdstore.Config, want string) error {
	t.Helper()
	s, err := etcdstore.Open(t.Context(), c)
	if err == nil {
		s.Close()
		t.Errorf("it opened; want an error that says %q", want)
		return nil
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %q; want it to say %q", err, want)
	}
	return err
}

func TestOpenErrors(t *testing.T) {
	here, nobody, silent := []string{endpoint}, freeURL(), newProxy(t, endpoint)
	silent.hold.Store(true)
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
		{"nothing listens", etcdstore.Config{Endpoints: []string{nobody}}, "no member of the cluster can be used"},
		{"silent", etcdstore.Config{Endpoints: []string{silent.url}}, "it accepts connections, and sends nothing"},
		{"https to http", etcdstore.Config{Endpoints: []string{strings.Replace(endpoint, "http:", "https:", 1)}}, "is it http?"},
	} {
		t.Run(tt.name, func(t *testing.T) { refuse(t, tt.c, tt.want) })
	}
}

func TestOpenForeign(t *testing.T) {
	client := newClient(t, endpoint)
	foreign, newer := newPrefix(t), newPrefix(t)
	if _, err := client.Put(t.Context(), foreign+"something", "else"); err != nil {
		t.Fatal(err)
	}
	if err := refuse(t, etcdstore.Config{Endpoints: []string{endpoint}, Prefix: foreign}, "something"); !errors.Is(err, etcdstore.ErrForeign) {
		t.Errorf("%v", err)
	}
	if _, err := client.Put(t.Context(), newer+"a", etcdstore.Sealed("a", []byte("\x02petstore"))); err != nil {
		t.Fatal(err)
	}
	if err := refuse(t, etcdstore.Config{Endpoints: []string{endpoint}, Prefix: newer}, "version 2"); !errors.Is(err, etcdstore.ErrNewer) {
		t.Errorf("%v", err)
	}
}

// Many processes that start at the same time create one store.
func TestOpenTogether(t *testing.T) {
	prefix := newPrefix(t)
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{endpoint}, Prefix: prefix, NewStore: true})
			if err == nil {
				_, err = s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
				s.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if stats, err := open(t, etcdstore.Config{Prefix: prefix}).Stats(t.Context()); err != nil || stats.Pets != 8 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// certificate creates a self-signed certificate for 127.0.0.1, for a member or a
// client.
func certificate(t *testing.T) transport.TLSInfo {
	t.Helper()
	info, err := transport.SelfCert(zap.NewNop(), t.TempDir(), []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// clientTLS trusts one certificate and presents another. "": none.
func clientTLS(t *testing.T, trusted, own transport.TLSInfo) func() (*tls.Config, error) {
	t.Helper()
	c, err := transport.TLSInfo{TrustedCAFile: trusted.CertFile, CertFile: own.CertFile, KeyFile: own.KeyFile}.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	return func() (*tls.Config, error) { return c, nil }
}

// A store uses a cluster that requires certificates and passwords. If one is
// missing or wrong, the error says which.
func TestTLSAndUsers(t *testing.T) {
	server, client := certificate(t), certificate(t)
	url := strings.Replace(freeURL(), "http:", "https:", 1)
	newCluster(t, []string{url}, "--cert-file="+server.CertFile, "--key-file="+server.KeyFile, "--trusted-ca-file="+client.CertFile, "--client-cert-auth")
	here := []string{url}
	config := etcdstore.Config{Endpoints: here, TLS: clientTLS(t, server, client)}
	s := open(t, config)
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	refuse(t, etcdstore.Config{Endpoints: here, TLS: clientTLS(t, transport.TLSInfo{}, client)}, "certificate signed by unknown authority")
	refuse(t, etcdstore.Config{Endpoints: here, TLS: clientTLS(t, server, transport.TLSInfo{})}, "does it accept the client's certificate?")
	refuse(t, etcdstore.Config{Endpoints: []string{strings.Replace(url, "https:", "http:", 1)}, RequestTimeout: 2 * time.Second}, "is it https?")

	tlsConfig, _ := config.TLS()
	root, err := clientv3.New(clientv3.Config{Endpoints: here, TLS: tlsConfig, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	addUsers(t, root)
	config.Username, config.Password = "anna", password("apple")
	s = open(t, config)
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia", Status: petstore.StatusSold}, petstore.Once{Key: "k"}); err != nil {
		t.Errorf("creating as a user: %v", err)
	}
	if page, err := s.ListPets(t.Context(), petstore.ListQuery{}); err != nil || len(page.Pets) != 2 {
		t.Errorf("listing as a user: %+v, %v", page, err)
	}
	config.Password = password("pear")
	refuse(t, config, "the user or the password is wrong")
	config.Username, config.Password = "bert", password("berry")
	refuse(t, config, "may not read and write the prefix")
	config.Username, config.Password = "", nil
	refuse(t, config, "may not read and write the prefix") // the certificate names no user
}

// A user who may only read the prefix can open a store and read. Creations are
// refused, and leave no leases in the cluster.
func TestReader(t *testing.T) {
	url := freeURL()
	newCluster(t, []string{url})
	config := etcdstore.Config{Endpoints: []string{url}}
	open(t, config)
	admin := newClient(t, url)
	p := etcdstore.DefaultPrefix
	for _, err := range []error{
		second(admin.UserAdd(t.Context(), "carl", "cherry")),
		second(admin.RoleAdd(t.Context(), "reader")),
		second(admin.RoleGrantPermission(t.Context(), "reader", p, clientv3.GetPrefixRangeEnd(p), clientv3.PermissionType(clientv3.PermRead))),
		second(admin.UserGrantRole(t.Context(), "carl", "reader")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	addUsers(t, admin)
	config.Username, config.Password = "carl", password("cherry")
	s := open(t, config)
	if stats, err := s.Stats(t.Context()); err != nil {
		t.Errorf("%+v, %v", stats, err)
	}
	for range 10 {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.Contains(err.Error(), "may not read and write") {
			t.Errorf("creating: %v", err)
		}
	}
	root, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Username: "root", Password: "secret", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if resp, err := root.Leases(t.Context()); err != nil || len(resp.Leases) > 0 {
		t.Errorf("%d leases are left, %v", len(resp.Leases), err)
	}
}

func second(_ any, err error) error { return err }

func password(p string) func() (string, error) { return func() (string, error) { return p, nil } }

// Certificates and a password that are replaced while a store is open are used
// for its next connection.
func TestReplacedCertificates(t *testing.T) {
	dir, url := t.TempDir(), strings.Replace(freeURL(), "http:", "https:", 1)
	var stop func()
	start := func(info transport.TLSInfo) *clientv3.Client {
		t.Helper()
		members, err := startCluster(dir, []string{url}, "--cert-file="+info.CertFile, "--key-file="+info.KeyFile, "--trusted-ca-file="+info.CertFile, "--client-cert-auth")
		stop = func() { kill(members) }
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientTLS(t, info, info)()
		if err != nil {
			t.Fatal(err)
		}
		root, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: config, Logger: zap.NewNop(), Username: "root", Password: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	defer func() { stop() }()
	var present atomic.Pointer[transport.TLSInfo]
	var word atomic.Value
	old, next := certificate(t), certificate(t)
	present.Store(&old)
	word.Store("apple")
	root := start(old)
	addUsers(t, root)
	s := open(t, etcdstore.Config{
		Endpoints: []string{url},
		TLS:       func() (*tls.Config, error) { return clientTLS(t, *present.Load(), *present.Load())() },
		Username:  "anna",
		Password:  func() (string, error) { return word.Load().(string), nil },
	})
	root.Close()
	stop()
	root = start(next)
	defer root.Close()
	if _, err := root.UserChangePassword(t.Context(), "anna", "cherry"); err != nil {
		t.Fatal(err)
	}
	word.Store("cherry")
	present.Store(&next)
	var err error
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err = s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); err == nil {
			return
		}
	}
	t.Error(err)
}

// addUsers adds the users anna, who may use the default prefix, and bert, who may
// not, and requires a user from then on.
func addUsers(t *testing.T, root *clientv3.Client) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(root.UserAdd(t.Context(), "root", "secret"))
	must(root.RoleAdd(t.Context(), "root"))
	must(root.UserGrantRole(t.Context(), "root", "root"))
	must(root.UserAdd(t.Context(), "anna", "apple"))
	must(root.UserAdd(t.Context(), "bert", "berry"))
	must(root.RoleAdd(t.Context(), "store"))
	p := etcdstore.DefaultPrefix
	must(root.RoleGrantPermission(t.Context(), "store", p, clientv3.GetPrefixRangeEnd(p), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(root.UserGrantRole(t.Context(), "anna", "store"))
	must(root.AuthEnable(t.Context()))
}
