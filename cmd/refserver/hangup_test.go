//go:build !windows

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// A server started with nohup must outlive its terminal.
func TestHangupIgnored(t *testing.T) {
	t.Parallel()
	cmd := command(t.TempDir())
	sh := process.Command(cmd.Dir, append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)...)
	sh.Env = cmd.Env
	s := startCommand(t, sh)
	_ = s.Signal(syscall.SIGHUP)
	s.create("Rex")
	s.Stop()
	if log := s.Stderr.String(); !strings.Contains(log, "signal=terminated") {
		t.Errorf("the log:\n%s", log)
	}
}

// SIGHUP loads the certificate again. An invalid pair of files changes nothing,
// and connections stay open.
func TestHangupLoadsCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := process.Certificate(t, dir)
	s := start(t, dir, "-tls-cert=cert.pem", "-tls-key=key.pem")
	insecure := &tls.Config{InsecureSkipVerify: true}
	s.Client = &http.Client{Transport: &http.Transport{TLSClientConfig: insecure}} // keeps its connection
	defer s.Client.CloseIdleConnections()
	// uses checks the certificate of a new connection.
	uses := func(when string, cert *x509.Certificate) {
		t.Helper()
		conn, err := tls.Dial("tcp", s.Host(), insecure)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if !conn.ConnectionState().PeerCertificates[0].Equal(cert) {
			t.Errorf("%s: a new connection gets another certificate", when)
		}
	}
	hangup := func(want string) {
		t.Helper()
		logged := len(s.Stderr.String())
		_ = s.Signal(syscall.SIGHUP)
		s.Until(fmt.Sprintf("the log has %q", want), func() bool { return strings.Contains(s.Stderr.String()[logged:], want) })
	}

	s.Must(200, "GET", "/pets", "")
	second := process.Certificate(t, dir)
	uses("before the signal", first)
	hangup("certificate loaded")
	uses("after the signal", second)
	key := process.ReadFile(t, s.Path("key.pem"))
	process.Certificate(t, dir)
	for _, spoilt := range []struct {
		name, file string
		data       []byte // nil: it is missing
	}{
		{"key of another certificate", "key.pem", key},
		{"malformed certificate", "cert.pem", []byte("soon")},
		{"missing file", "cert.pem", nil},
	} {
		if spoilt.data == nil {
			_ = os.Remove(s.Path(spoilt.file))
		} else {
			process.WriteFile(t, s.Path(spoilt.file), spoilt.data)
		}
		hangup("level=ERROR")
		uses(spoilt.name, second)
	}
	s.Must(200, "GET", "/pets", "")
	third := process.Certificate(t, dir)
	hangup("certificate loaded")
	uses("a valid pair after invalid ones", third)
	s.Stop()
}
