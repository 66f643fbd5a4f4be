package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

func TestJSONLog(t *testing.T) {
	t.Parallel()
	p, err := process.Start(command(t.TempDir(), "-log=json", "-access-log"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	// line waits for the n-th line of the log, and parses it.
	line := func(n int, into any) {
		t.Helper()
		err := p.Until("it logs a line", func() bool { return strings.Count(p.Stderr.String(), "\n") == n })
		if err == nil {
			err = json.Unmarshal([]byte(strings.Split(p.Stderr.String(), "\n")[n-1]), into)
		}
		if err != nil {
			t.Fatalf("line %d: %v: %s", n, err, p.Stderr.String())
		}
	}
	var serving struct{ Level, Msg, URL string }
	if line(1, &serving); serving.Msg != "serving" || serving.Level != "INFO" || serving.URL == "" {
		t.Errorf("the first line is %+v", serving)
	}
	if _, err := http.Get(serving.URL + "/cats"); err != nil {
		t.Fatal(err)
	}
	access := map[string]any{}
	line(2, &access)
	if ms, ok := access["duration_ms"].(float64); !ok || ms > process.Patience.Seconds()*1000 {
		t.Errorf("no duration in milliseconds: %v", access)
	}
}

// Every path of the admin address refuses what a browser sends for a page of
// another site, with any method.
func TestAdminRefusesWebPages(t *testing.T) {
	t.Parallel()
	loopback, open := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0"), start(t, t.TempDir(), "-admin-addr=:0")
	if log := open.Stderr.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "admin") {
		t.Errorf("the log of the open address:\n%s", log)
	}
	const own = "(own)" // stands for the host and port of the address
	for _, tt := range []struct {
		name    string
		fields  []string
		refused string // part of the message of a 403
	}{
		{"curl", nil, ""},
		{"address typed into a browser", []string{"Sec-Fetch-Site", "none"}, ""},
		{"link on its own page", []string{"Sec-Fetch-Site", "same-origin"}, ""},
		{"script on its own page", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + own}, ""},
		{"its own page over HTTPS, in an old browser", []string{"Origin", "https://" + own}, ""},
		{"page of another site", []string{"Sec-Fetch-Site", "cross-site"}, "Sec-Fetch-Site: must be none or same-origin"},
		{"page on another port", []string{"Sec-Fetch-Site", "same-site"}, "Sec-Fetch-Site: must be none or same-origin"},
		{"script of another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, "Sec-Fetch-Site"},
		{"script of another site, in an old browser", []string{"Origin", "https://evil.example"}, "Origin: must be absent or that of the admin address"},
		{"script of a host whose name ends in this one", []string{"Origin", "http://x" + own}, "Origin"},
		{"script on another port, in an old browser", []string{"Origin", "http://127.0.0.1:1"}, "Origin"},
		{"script of a file", []string{"Origin", "null"}, "Origin"},
		{"host name of another site, with this address", []string{"Host", "evil.example", "Sec-Fetch-Site", "same-origin"}, "Host: must be localhost, an IP address or the name in -admin-addr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []*server{loopback, open} {
				host, refused := strings.TrimPrefix(s.Admin, "http://"), tt.refused
				if s == open && slices.Contains(tt.fields, "Host") {
					refused = "" // other machines may use any name for it
				}
				var fields []string
				for _, f := range tt.fields {
					fields = append(fields, strings.ReplaceAll(f, own, host))
				}
				for _, request := range []string{"GET /backup", "GET /messages", "DELETE /messages/msg_1", "GET /debug/vars", "GET /debug/pprof/", "GET /debug/pprof/cmdline", "POST /debug/pprof/symbol"} {
					method, path, _ := strings.Cut(request, " ")
					r, err := s.Send(method, s.Admin+path, "", fields...)
					if err != nil || (r.Status == 403) != (refused != "") || !strings.Contains(r.Body, refused) || refused == "" && r.Status/100 != 2 {
						t.Errorf("%s on %s: %d %.200q, %v; want it refused: %q", request, s.Admin, r.Status, r.Body, err, refused)
					}
				}
			}
		})
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roots := x509.NewCertPool()
	roots.AddCert(newCertificate(t, dir))
	s := start(t, dir, "-tls-cert=cert.pem", "-tls-key=key.pem")
	if !strings.HasPrefix(s.URL, "https://") {
		t.Fatalf("the URL is %s", s.URL)
	}
	for _, h2 := range []bool{false, true} {
		s.Client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: h2}}
		s.create("Rex")
		s.Client.CloseIdleConnections()
	}
	run(t, dir, "1 refserver -tls-cert=key.pem -tls-key=cert.pem -db=other.db\nstderr -tls-cert")
	s.Stop()
}

// newCertificate writes cert.pem and key.pem for 127.0.0.1.
func newCertificate(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
