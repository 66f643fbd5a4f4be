package etcdstore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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
	here, nobody := []string{endpoint}, freeURL()
	for _, tt := range []struct {
		name string
		c    etcdstore.Config
		want string
	}{
		{"no endpoints", etcdstore.Config{}, "no endpoints"},
		{"no scheme", etcdstore.Config{Endpoints: []string{"127.0.0.1:2379"}}, "must be a URL"},
		{"no port", etcdstore.Config{Endpoints: []string{"http://127.0.0.1"}}, "must be a URL"},
		{"mixed", etcdstore.Config{Endpoints: []string{"http://127.0.0.1:2379", "https://127.0.0.1:2379"}}, "all must be http or all https"},
		{"TLS for http", etcdstore.Config{Endpoints: here, TLS: &tls.Config{}}, "certificates need https"},
		{"user without password", etcdstore.Config{Endpoints: here, Username: "anna"}, "must be given together"},
		{"nothing listens", etcdstore.Config{Endpoints: []string{nobody}}, "no member of the cluster can be reached"},
		{"https to http", etcdstore.Config{Endpoints: []string{strings.Replace(endpoint, "http:", "https:", 1)}}, "is it http?"},
	} {
		t.Run(tt.name, func(t *testing.T) { refuse(t, tt.c, tt.want) })
	}
}

func TestOpenForeign(t *testing.T) {
	client := newClient(t)
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
			s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{endpoint}, Prefix: prefix})
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

// authority makes certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue creates a certificate and returns the paths of it and its key.
func (a *authority) issue(name string, isCA bool) (certFile, keyFile string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  isCA,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if isCA {
		a.key = key
		a.cert, _ = x509.ParseCertificate(der)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(suffix, kind string, der []byte) string {
		path := filepath.Join(a.dir, name+suffix)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return path
	}
	return write(".pem", "CERTIFICATE", der), write("-key.pem", "EC PRIVATE KEY", keyDER)
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// A store uses a cluster that requires certificates and passwords. If one is
// missing or wrong, the error says which.
func TestTLSAndUsers(t *testing.T) {
	ca := &authority{t: t, dir: t.TempDir()}
	caFile, _ := ca.issue("ca", true)
	serverCert, serverKey := ca.issue("server", false)
	clientCert, clientKey := ca.issue("client", false)
	certificate, err := tls.LoadX509KeyPair(clientCert, clientKey)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(freeURL(), "http:", "https:", 1)
	newMember(t, url,
		"--cert-file="+serverCert, "--key-file="+serverKey, "--trusted-ca-file="+caFile, "--client-cert-auth")
	good := &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{certificate}}
	config := etcdstore.Config{Endpoints: []string{url}, TLS: good}

	root, err := clientv3.New(clientv3.Config{Endpoints: config.Endpoints, TLS: good})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := open(t, config)
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	refuse(t, etcdstore.Config{Endpoints: config.Endpoints, TLS: &tls.Config{Certificates: good.Certificates}}, "certificate signed by unknown authority")
	refuse(t, etcdstore.Config{Endpoints: config.Endpoints, TLS: &tls.Config{RootCAs: good.RootCAs}}, "certificate required")
	refuse(t, etcdstore.Config{Endpoints: []string{strings.Replace(url, "https:", "http:", 1)}, RequestTimeout: 2 * time.Second}, "is it https?")

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

	config.Username, config.Password = "anna", "apple"
	s = open(t, config)
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia", Status: petstore.StatusSold}, petstore.Once{Key: "k"}); err != nil {
		t.Errorf("creating as a user: %v", err)
	}
	if page, err := s.ListPets(t.Context(), petstore.ListQuery{}); err != nil || len(page.Pets) != 2 {
		t.Errorf("listing as a user: %+v, %v", page, err)
	}
	config.Password = "pear"
	refuse(t, config, "the user or the password is wrong")
	config.Username, config.Password = "bert", "berry"
	refuse(t, config, "may not read and write the prefix")
	config.Username, config.Password = "", ""
	refuse(t, config, "may not read and write the prefix") // the certificate names a user too
}
