package postgres_test

import (
	"net"
	"net/url"
	"testing"

	"example.com/animalstore/internal/postgres"
)

// A server can be started again after any end.
func TestServer(t *testing.T) {
	s := postgres.Run(t, "fsync=off", "max_connections=20")
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	connect := func() error {
		conn, err := net.Dial("tcp", u.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	for _, end := range []func() error{
		func() error { s.Kill(); return nil },
		s.Stop,
	} {
		if err := connect(); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := connect(); err == nil {
			t.Error("the server accepts connections after its end")
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	}
}
