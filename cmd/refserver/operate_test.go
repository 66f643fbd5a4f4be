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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

func TestAccessLog(t *testing.T) {
	s := start(t, t.TempDir(), "-access-log")
	s.create("Rex", "X-Request-ID", "mine-1")
	refused := s.Must(401, "GET", "/pets?api_key="+s.Key, "", "Authorization", "Bearer petstore_wrong")
	outside := s.Must(404, "GET", s.root()+"/", "", "X-Request-ID", "not sane")
	id := func(r process.Response) string { return r.Header.Get("X-Request-Id") }
	if id(refused) == "" || id(outside) == "" || id(outside) == "not sane" {
		t.Errorf("the request IDs are %q and %q", id(refused), id(outside))
	}
	for _, form := range []string{
		`msg=request request_id=mine-1 remote=127\.0\.0\.1:\d+ principal=default method=POST path=/v1/pets status=201 bytes=\d+ duration_ms=\d+(\.\d+)?\n`,
		`msg=request request_id=` + id(refused) + ` remote=\S+ principal="" method=GET path=/v1/pets status=401 bytes=\d+ duration_ms=\d+(\.\d+)? code=unauthorized\n`,
		`msg=request request_id=` + id(outside) + ` remote=\S+ principal="" method=GET path=/ status=404 bytes=` + strconv.Itoa(len(outside.Body)) + ` duration_ms=\d+(\.\d+)? code=not_found\n`,
	} {
		s.Until("the log has a line of the form "+form, func() bool { return regexp.MustCompile(form).MatchString(s.Stderr.String()) })
	}
	if log := s.Stderr.String(); strings.Count(log, "msg=request") != 3 || strings.Contains(log, "petstore_") {
		t.Errorf("the log has other lines, or a key:\n%s", log)
	}
}

func TestJSONLog(t *testing.T) {
	p, err := process.Start(command(t.TempDir(), "-addr=127.0.0.1:0", "-log=json", "-access-log"))
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

func TestAdmin(t *testing.T) {
	s := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0")
	s.create("Rex")
	for _, text := range []string{"one", "two", "three"} {
		s.Must(202, "POST", "/messages", `{"message":"`+text+`"}`)
	}
	type message struct{ ID, Message, Status string }
	queued := func(query string) (m []message) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.Must(200, "GET", s.Admin+"/messages"+query, "").Body), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	all := queued("")
	if len(all) != 3 || all[0].Message != "one" || all[2].Message != "three" || all[0].Status != "queued" {
		t.Fatalf("GET /messages returned %v", all)
	}
	if diff := cmp.Diff(all[:2], queued("?limit=2")); diff != "" {
		t.Errorf("GET /messages?limit=2 (-want +got):\n%s", diff)
	}
	for range 2 { // a removal can be repeated
		s.Must(204, "DELETE", s.Admin+"/messages/"+all[0].ID, "")
	}
	if diff := cmp.Diff(all[1:], queued("")); diff != "" {
		t.Errorf("GET /messages after the removal (-want +got):\n%s", diff)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=x"} {
		if r := s.Must(400, "GET", s.Admin+"/messages"+query, ""); !strings.Contains(r.Body, "limit") {
			t.Errorf("GET /messages%s: %s", query, r.Body)
		}
	}

	s.Must(404, "GET", s.root()+"/", "")
	s.Must(405, "PUT", s.URL+"/pets", "")
	s.Must(404, "PATCH", s.URL+"/cats", "")
	s.Must(405, "POST", s.root()+"/healthz", "")
	s.Must(200, "GET", s.root()+"/healthz", "") // is not counted
	var vars struct {
		Store     struct{ Pets, QueuedMessages int }
		Responses map[string]int
	}
	s.Until("all is counted", func() bool { // a response is counted after it is sent
		err := json.Unmarshal([]byte(s.Must(200, "GET", s.Admin+"/debug/vars", "").Body), &vars)
		return err == nil && vars.Store.Pets == 1 && vars.Store.QueuedMessages == 2 && vars.Responses["2xx"] >= 4 && vars.Responses["4xx"] >= 4
	})
	if vars.Responses["2xx"] != 4 || vars.Responses["4xx"] != 4 {
		t.Errorf("the responses were counted as %v", vars.Responses)
	}
	if r := s.Must(200, "GET", s.Admin+"/debug/pprof/goroutine?debug=1", ""); !strings.Contains(r.Body, "goroutine profile") {
		t.Errorf("GET /debug/pprof/goroutine: %.300s", r.Body)
	}
	for _, path := range []string{"/messages", "/debug/vars", "/debug/pprof/"} {
		s.Must(404, "GET", s.root()+path, "", "Authorization", "Bearer "+s.Key) // on the main address
	}
}

// Every path of the admin address refuses what a browser sends for a page of
// another site, with any method.
func TestAdminRefusesWebPages(t *testing.T) {
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
	fails(t, dir, "-addr=127.0.0.1:0 -tls-cert=key.pem -tls-key=cert.pem -db=other.db", 1, "-tls-cert")
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
