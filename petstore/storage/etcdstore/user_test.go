package etcdstore_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

func password(p string) func() (string, error) { return func() (string, error) { return p, nil } }

// secure returns a URL with the scheme https.
func secure(url string) string { return strings.Replace(url, "http:", "https:", 1) }

// addUsers adds the users anna, who may use the default prefix, and carl, who may
// read it, with the password "secret". It requires a user from then on, and
// returns a client of the user root.
func addUsers(t *testing.T, c clientv3.Config) *clientv3.Client {
	t.Helper()
	admin := newClient(t, c)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := etcdstore.DefaultPrefix
	for name, permission := range map[string]clientv3.PermissionType{
		"root": clientv3.PermissionType(clientv3.PermReadWrite),
		"anna": clientv3.PermissionType(clientv3.PermReadWrite),
		"carl": clientv3.PermissionType(clientv3.PermRead),
	} {
		must(admin.RoleAdd(t.Context(), name))
		must(admin.RoleGrantPermission(t.Context(), name, p, clientv3.GetPrefixRangeEnd(p), permission))
		must(admin.UserAdd(t.Context(), name, "secret"))
		must(admin.UserGrantRole(t.Context(), name, name))
	}
	must(admin.AuthEnable(t.Context()))
	c.Username, c.Password = "root", "secret"
	return newClient(t, c)
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
func clientTLS(t *testing.T, trusted, own transport.TLSInfo) *tls.Config {
	t.Helper()
	c, err := transport.TLSInfo{TrustedCAFile: trusted.CertFile, CertFile: own.CertFile, KeyFile: own.KeyFile}.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newSecureMember returns a member that shows a certificate and requires another
// of its clients.
func newSecureMember(t *testing.T, own, client transport.TLSInfo) *etcd.Member {
	m := newMembers(t.TempDir(), 1, "--client-cert-auth", "--cert-file="+own.CertFile, "--key-file="+own.KeyFile, "--trusted-ca-file="+client.CertFile)[0]
	m.URL = secure(m.URL)
	return m
}

// A store uses a cluster that requires certificates and passwords. If one is
// missing or wrong, the error says which. A user who may only read the prefix can
// open a store and read. Creations are then refused, and leave no leases.
func TestTLSAndUsers(t *testing.T) {
	server, client := certificate(t), certificate(t)
	m := newSecureMember(t, server, client)
	etcd.Serve(t, []*etcd.Member{m})
	here := []string{m.URL}
	with := func(trusted, own transport.TLSInfo) etcdstore.Config {
		c := clientTLS(t, trusted, own)
		return etcdstore.Config{Endpoints: here, TLS: func() (*tls.Config, error) { return c, nil }}
	}
	config := with(server, client)
	create(t, open(t, config), petstore.NewPet{Name: "Rex"}, "")
	refuse(t, with(transport.TLSInfo{}, client), "certificate signed by unknown authority")
	refuse(t, with(server, transport.TLSInfo{}), "does it accept the client's certificate?")
	refuse(t, etcdstore.Config{Endpoints: []string{strings.Replace(m.URL, "https:", "http:", 1)}, RequestTimeout: 2 * time.Second}, "is it https?")

	root := addUsers(t, clientv3.Config{Endpoints: here, TLS: clientTLS(t, server, client)})
	config.Username, config.Password = "anna", password("secret")
	s := open(t, config)
	create(t, s, petstore.NewPet{Name: "Mia", Status: petstore.StatusSold}, "k")
	if page, err := s.ListPets(t.Context(), petstore.ListQuery{}); err != nil || len(page.Pets) != 2 {
		t.Errorf("listing as a user: %+v, %v", page, err)
	}
	config.Username = "carl"
	reader := open(t, config)
	before, err := root.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		_, err := reader.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.Contains(err.Error(), "may not read and write") {
			t.Errorf("creating: %v", err)
		}
	}
	stats, err := reader.Stats(t.Context())
	after, errAfter := root.Leases(t.Context())
	if err != nil || stats.Pets != 2 || errAfter != nil || len(after.Leases) != len(before.Leases) {
		t.Errorf("%+v, %v; %d leases, %v; %d before", stats, err, len(after.Leases), errAfter, len(before.Leases))
	}
	config.Password = password("another")
	refuse(t, config, "the user or the password is wrong")
	config.Username, config.Password = "", nil
	refuse(t, config, "may not read and write the prefix") // the certificate names no user
}

// Certificates that are replaced while a store is open are used for its next
// connection.
func TestReplacedCertificates(t *testing.T) {
	old, next := certificate(t), certificate(t)
	var present atomic.Pointer[tls.Config]
	present.Store(clientTLS(t, old, old))
	m := newSecureMember(t, old, old)
	etcd.Serve(t, []*etcd.Member{m})
	s := open(t, etcdstore.Config{Endpoints: []string{m.URL}, TLS: func() (*tls.Config, error) { return present.Load(), nil }})
	m.Kill()
	m.Args = newSecureMember(t, next, next).Args
	etcd.Serve(t, []*etcd.Member{m})
	present.Store(clientTLS(t, next, next))
	etcd.Eventually(t, "the store uses the new certificate", func() error { return s.Ready(t.Context()) })
}

// A password that was wrong is not sent again with every call. Calls soon succeed
// when it is right.
func TestWrongPassword(t *testing.T) {
	url := newCluster(t)
	root := addUsers(t, clientv3.Config{Endpoints: []string{url}})
	var sent atomic.Int64
	var word atomic.Value
	word.Store("secret")
	s := open(t, etcdstore.Config{Endpoints: []string{url}, Username: "anna", Password: func() (string, error) {
		sent.Add(1)
		return word.Load().(string), nil
	}})
	if _, err := root.UserChangePassword(t.Context(), "anna", "cherry"); err != nil { // it ends all tokens
		t.Fatal(err)
	}
	before := sent.Load()
	calls, start := 0, time.Now()
	for ; time.Since(start) < 3*time.Second; calls++ {
		if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the password is wrong") {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	n := sent.Load() - before
	if t.Logf("%d calls sent the password %d times", calls, n); n > int64(time.Since(start)/time.Second)+1 {
		t.Error("that is more than once a second")
	}
	word.Store("cherry")
	etcd.Eventually(t, "calls succeed", func() error { return s.Ready(t.Context()) })
}

// Many readers go on when their member is lost, even if the tokens of the user
// have ended. To issue a token, a member computes a slow hash
// of the password.
func TestEndedTokens(t *testing.T) {
	const readers = 100
	members := newMembers(t.TempDir(), 3)
	etcd.Serve(t, members)
	root := addUsers(t, clientv3.Config{Endpoints: etcd.URLs(members)})
	var sent atomic.Int64
	s := open(t, etcdstore.Config{Endpoints: etcd.URLs(members), Username: "anna", Password: func() (string, error) {
		sent.Add(1)
		return "secret", nil
	}})
	create(t, s, petstore.NewPet{}, "")
	before := sent.Load()
	if _, err := root.UserChangePassword(t.Context(), "anna", "secret"); err != nil { // it ends all tokens
		t.Fatal(err)
	}
	members[0].Kill()
	start := time.Now()
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			if _, err := s.GetPet(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := sent.Load() - before
	if t.Logf("%d reads took %v and sent the password %d times", readers, time.Since(start), n); n == 0 || n > readers/2 {
		t.Error("the reads do not share requests for tokens")
	}
}
