//go:build !windows

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Without a certificate to load again, SIGHUP stops the server as SIGTERM does.
// A terminal that is closed sends it more than once.
func TestHangupDrains(t *testing.T) {
	s := start(t, t.TempDir(), patient)
	slow := sendHalf(s)
	for range 3 {
		if err := s.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the address is closed", func() bool { return s.health("/healthz") == 0 })
	_ = s.Signal(syscall.SIGHUP)
	if resp := slow.finish(); resp.StatusCode != http.StatusCreated {
		t.Errorf("the request in flight: %s", resp.Status)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A server started with nohup must outlive its terminal.
func TestHangupIgnored(t *testing.T) {
	cmd := command(t.TempDir(), "-addr=127.0.0.1:0")
	sh := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)...)
	sh.Dir, sh.Env = cmd.Dir, cmd.Env
	s := startCommand(t, sh)
	if err := s.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.create(s.key, "Rex")
	s.stop()
	if log := s.Stderr.String(); !strings.Contains(log, "signal=terminated") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestHangupLoadsCertificate(t *testing.T) {
	dir := t.TempDir()
	first := newCertificate(t, dir)
	s := start(t, dir, "-tls-cert=cert.pem", "-tls-key=key.pem")
	// uses reports whether a new connection gets cert.
	uses := func(cert *x509.Certificate) bool {
		t.Helper()
		conn, err := tls.Dial("tcp", s.host(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Equal(cert)
	}
	hangup := func(says string) {
		t.Helper()
		logged := len(s.Stderr.String())
		if err := s.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		s.until(fmt.Sprintf("the log says %q", says), func() bool { return strings.Contains(s.Stderr.String()[logged:], says) })
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	list := func() {
		t.Helper()
		if r, err := send(client, "GET", s.URL+"/pets", s.key, ""); err != nil || r.status != 200 {
			t.Errorf("GET /pets: %v, %v", r, err)
		}
	}

	list()
	second := newCertificate(t, dir)
	if !uses(first) {
		t.Error("the certificate changed before the signal")
	}
	hangup("certificate loaded")
	if !uses(second) {
		t.Error("the new certificate is not used")
	}
	for name, spoil := range map[string]func() error{
		"key of another certificate": func() error {
			key, err := os.ReadFile(s.path("key.pem"))
			newCertificate(t, dir)
			if err == nil {
				err = os.WriteFile(s.path("key.pem"), key, 0o600)
			}
			return err
		},
		"malformed certificate": func() error { return os.WriteFile(s.path("cert.pem"), []byte("soon"), 0o600) },
		"missing file":          func() error { return os.Remove(s.path("cert.pem")) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		hangup("level=ERROR")
		if !uses(second) {
			t.Errorf("%s: the last valid certificate is no longer used", name)
		}
	}
	list() // on the same connection as before
	third := newCertificate(t, dir)
	hangup("certificate loaded")
	if !uses(third) {
		t.Error("a valid pair after invalid ones is not used")
	}
	s.stop()
}
