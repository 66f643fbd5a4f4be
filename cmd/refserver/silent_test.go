package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// A connection that brings nothing, or not all of a header, does not hold up
// the end.
func TestDrainClosesSilentConnections(t *testing.T) {
	anyServer := &tls.Config{InsecureSkipVerify: true}
	for name, dial := range map[string]func(host string) (net.Conn, error){
		"nothing": func(host string) (net.Conn, error) { return net.Dial("tcp", host) },
		"half a header": func(host string) (net.Conn, error) {
			conn, err := net.Dial("tcp", host)
			if err == nil {
				_, err = io.WriteString(conn, "GET /v1/pets HTTP/1.1\r\nHos")
			}
			return conn, err
		},
		"no handshake": func(host string) (net.Conn, error) { return net.Dial("tcp", host) },
		"a handshake": func(host string) (net.Conn, error) {
			return tls.Dial("tcp", host, anyServer)
		},
		"a handshake for HTTP/2": func(host string) (net.Conn, error) {
			return tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"-drain=4s"} // net/http by itself would wait for five
			if strings.Contains(name, "handshake") {
				newCertificate(t, dir)
				args = append(args, "-tls-cert=cert.pem", "-tls-key=key.pem")
			}
			// A busy machine may take that long too, but not every time.
			for try := 1; !endsInTime(t, start(t, dir, args...), dial); try++ {
				if try == 5 {
					t.Fatal("the silent connection held up the end")
				}
			}
		})
	}
}

// endsInTime reports whether the server stops in good order with a connection
// of dial's open.
func endsInTime(t *testing.T, s *server, dial func(host string) (net.Conn, error)) bool {
	t.Helper()
	conn, err := dial(s.host())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Connections are accepted in order: before that of an answer, the first was.
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	if _, err := send(client, "GET", s.URL+"/openapi.json", "", ""); err != nil {
		t.Fatal(err)
	}
	return s.signal(syscall.SIGTERM) == 0
}
