package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

func TestJSONLog(t *testing.T) {
	t.Parallel()
	p, err := process.Start(command(t.TempDir(), "-log=json", "-access-log"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	// logs waits until the log is like that, and returns the group in it.
	logs := func(pattern string) (group string) {
		t.Helper()
		err := p.Until("it logs "+pattern, func() bool {
			m := regexp.MustCompile(pattern).FindStringSubmatch(p.Stderr.String())
			if m != nil {
				group = m[1]
			}
			return m != nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return group
	}
	url := logs(`^{"time":"[^"]+","level":"INFO","msg":"serving","url":"([^"]+)",.*}\n$`)
	if _, err := http.Get(url + "/cats"); err != nil {
		t.Fatal(err)
	}
	logs(`^.*\n{.*"msg":"request",.*"duration_ms":(\d{1,6}(?:\.\d+)?)[,}].*\n$`)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roots := x509.NewCertPool()
	roots.AddCert(process.Certificate(t, dir))
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
