package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

func TestAccessLog(t *testing.T) {
	s := start(t, t.TempDir(), "-access-log")
	s.create(s.key, "Rex", "X-Request-ID", "mine-1")
	refused := s.do("GET", s.URL+"/pets?api_key="+s.key, "petstore_wrong", "")
	outside := s.do("GET", "http://"+s.host()+"/", "", "", "X-Request-ID", "not sane")
	id := func(r response) string { return r.header.Get("X-Request-Id") }
	if refused.status != 401 || outside.status != 404 || id(refused) == "" || id(outside) == "" || id(outside) == "not sane" {
		t.Errorf("answers %v and %v", refused, outside)
	}
	for _, form := range []string{
		`msg=request request_id=mine-1 remote=127\.0\.0\.1:\d+ principal=default method=POST path=/v1/pets status=201 bytes=\d+ duration_ms=\d+(\.\d+)?\n`,
		`msg=request request_id=` + id(refused) + ` remote=\S+ principal="" method=GET path=/v1/pets status=401 bytes=\d+ duration_ms=\d+(\.\d+)? code=unauthorized\n`,
		`msg=request request_id=` + id(outside) + ` remote=\S+ principal="" method=GET path=/ status=404 bytes=` + strconv.Itoa(len(outside.body)) + ` duration_ms=\d+(\.\d+)? code=not_found\n`,
	} {
		s.until("the log has a line of the form "+form, func() bool { return regexp.MustCompile(form).MatchString(s.Stderr.String()) })
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
	if err := p.Until("it logs a line", func() bool { return strings.HasSuffix(p.Stderr.String(), "\n") }); err != nil {
		t.Fatal(err)
	}
	var line struct{ Level, Msg, URL string }
	if err := json.Unmarshal([]byte(p.Stderr.String()), &line); err != nil || line.Msg != "serving" || line.Level != "INFO" || line.URL == "" {
		t.Errorf("%v: %s", err, p.Stderr.String())
	}
	if _, err := send(oneShot, "GET", line.URL+"/cats", "", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Until("it logs the request", func() bool { return strings.Count(p.Stderr.String(), "\n") == 2 }); err != nil {
		t.Fatal(err)
	}
	_, second, _ := strings.Cut(p.Stderr.String(), "\n")
	access := map[string]any{}
	if err := json.Unmarshal([]byte(second), &access); err != nil {
		t.Fatal(err)
	}
	if ms, ok := access["duration_ms"].(float64); !ok || ms > process.Patience.Seconds()*1000 {
		t.Errorf("no duration in milliseconds: %s", second)
	}
}

func TestAdmin(t *testing.T) {
	s := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0")
	s.create(s.key, "Rex")
	for _, text := range []string{"one", "two", "three"} {
		if r := s.do("POST", s.URL+"/messages", s.key, `{"message":"`+text+`"}`); r.status != 202 {
			t.Fatalf("POST /messages: %d", r.status)
		}
	}
	type message struct{ ID, Message, Status string }
	queued := func(query string) []message {
		t.Helper()
		r := s.do("GET", s.Admin+"/messages"+query, "", "")
		var m []message
		if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != 200 {
			t.Fatalf("GET /messages%s: %d %s", query, r.status, r.body)
		}
		return m
	}
	all := queued("")
	if len(all) != 3 || all[0].Message != "one" || all[2].Message != "three" || all[0].Status != "queued" {
		t.Fatalf("GET /messages gave %v", all)
	}
	if diff := cmp.Diff(all[:2], queued("?limit=2")); diff != "" {
		t.Errorf("GET /messages?limit=2 (-want +got):\n%s", diff)
	}
	for range 2 { // a repeated removal is none
		if r := s.do("DELETE", s.Admin+"/messages/"+all[0].ID, "", ""); r.status != 204 {
			t.Errorf("DELETE: %d %s", r.status, r.body)
		}
	}
	if diff := cmp.Diff(all[1:], queued("")); diff != "" {
		t.Errorf("GET /messages after the removal (-want +got):\n%s", diff)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=x"} {
		if r := s.do("GET", s.Admin+"/messages"+query, "", ""); r.status != 400 || !strings.Contains(r.body, "limit") {
			t.Errorf("GET /messages%s: %d %s", query, r.status, r.body)
		}
	}

	for method, path := range map[string]string{"GET": "/", "PUT": "/v1/pets", "PATCH": "/v1/cats", "POST": "/healthz"} {
		if r := s.do(method, "http://"+s.host()+path, "", ""); r.status/100 != 4 {
			t.Errorf("%s %s: %d", method, path, r.status)
		}
	}
	if r := s.do("GET", "http://"+s.host()+"/healthz", "", ""); r.status != 200 { // which is not counted
		t.Errorf("GET /healthz: %d", r.status)
	}
	var vars struct {
		Store     struct{ Pets, QueuedMessages int }
		Responses map[string]int
	}
	s.until("all is counted", func() bool { // an answer is so after it was given
		r := s.do("GET", s.Admin+"/debug/vars", "", "")
		err := json.Unmarshal([]byte(r.body), &vars)
		return err == nil && vars.Store.Pets == 1 && vars.Store.QueuedMessages == 2 && vars.Responses["2xx"] >= 4 && vars.Responses["4xx"] >= 4
	})
	if vars.Responses["2xx"] != 4 || vars.Responses["4xx"] != 4 {
		t.Errorf("the answers were counted as %v", vars.Responses)
	}
	if r := s.do("GET", s.Admin+"/debug/pprof/goroutine?debug=1", "", ""); r.status != 200 || !strings.Contains(r.body, "goroutine profile") {
		t.Errorf("GET /debug/pprof/goroutine: %d", r.status)
	}
	for _, path := range []string{"/messages", "/debug/vars", "/debug/pprof/"} {
		if r := s.do("GET", "http://"+s.host()+path, s.key, ""); r.status != 404 {
			t.Errorf("GET %s on the main address: %d", path, r.status)
		}
	}
}

// Every path of the admin address refuses what a browser sends for a page of
// another site, with any method.
func TestAdminRefusesWebPages(t *testing.T) {
	loopback, open := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0"), start(t, t.TempDir(), "-admin-addr=:0")
	if log := open.Stderr.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "admin") {
		t.Errorf("the log of the open address:\n%s", log)
	}
	const own = "(own)" // stands for the address's own host and port
	for _, tt := range []struct {
		name    string
		header  map[string]string
		refused string // part of the message; "": it is served
	}{
		{"curl", nil, ""},
		{"address typed into a browser", map[string]string{"Sec-Fetch-Site": "none"}, ""},
		{"link on its own page", map[string]string{"Sec-Fetch-Site": "same-origin"}, ""},
		{"script on its own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://" + own}, ""},
		{"its own page over HTTPS, in an old browser", map[string]string{"Origin": "https://" + own}, ""},
		{"page of another site", map[string]string{"Sec-Fetch-Site": "cross-site"}, "Sec-Fetch-Site: must be none or same-origin"},
		{"page on another port", map[string]string{"Sec-Fetch-Site": "same-site"}, "Sec-Fetch-Site: must be none or same-origin"},
		{"script of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, "Sec-Fetch-Site"},
		{"script of another site, in an old browser", map[string]string{"Origin": "https://evil.example"}, "Origin: must be absent or that of the admin address"},
		{"script of a host whose name ends in this one", map[string]string{"Origin": "http://x" + own}, "Origin"},
		{"script on another port, in an old browser", map[string]string{"Origin": "http://127.0.0.1:1"}, "Origin"},
		{"script of a file", map[string]string{"Origin": "null"}, "Origin"},
		{"host name of another site, with this address", map[string]string{"Host": "evil.example", "Sec-Fetch-Site": "same-origin"}, "Host: must be localhost, an IP address or the name in -admin-addr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []*server{loopback, open} {
				refused := tt.refused
				if s == open && tt.header["Host"] != "" {
					refused = "" // other machines may know it by any name
				}
				for _, request := range []string{"GET /backup", "GET /messages", "DELETE /messages/msg_1", "GET /debug/vars", "GET /debug/pprof/", "GET /debug/pprof/cmdline", "POST /debug/pprof/symbol"} {
					method, path, _ := strings.Cut(request, " ")
					req, err := http.NewRequest(method, s.Admin+path, nil)
					if err != nil {
						t.Fatal(err)
					}
					for name, value := range tt.header {
						req.Header.Set(name, strings.ReplaceAll(value, own, req.URL.Host))
					}
					if host := tt.header["Host"]; host != "" {
						req.Host = host
					}
					resp, err := oneShot.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					b, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil || (resp.StatusCode == 403) != (refused != "") || !strings.Contains(string(b), refused) || refused == "" && resp.StatusCode/100 != 2 {
						t.Errorf("%s on %s: %d %.200q, %v; want it refused: %q", request, s.Admin, resp.StatusCode, b, err, refused)
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
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: h2,
		}}
		r, err := send(client, "POST", s.URL+"/pets", s.key, `{"name":"Rex","categoryId":1}`)
		if err != nil || r.status != 201 {
			t.Errorf("POST /pets (HTTP/2: %v): %v, %v", h2, r, err)
		}
		client.CloseIdleConnections()
	}
	code, _, stderr := run(t, dir, "-addr=127.0.0.1:0", "-tls-cert=key.pem", "-tls-key=cert.pem", "-db=other.db")
	if code != 1 {
		t.Errorf("certificate and key confused: exit code %d", code)
	}
	oneLine(t, stderr, "-tls-cert")
	s.stop()
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
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
