package etcdstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
)

// reach connects to all members, and returns nil as soon as one of them accepts
// the connection. Otherwise the error says for each why not.
func (c Config) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	results := make(chan error, len(c.Endpoints))
	for _, e := range c.Endpoints {
		go func() {
			if err := c.reachOne(ctx, e); err != nil {
				results <- fmt.Errorf("%s: %w", e, err)
				return
			}
			results <- nil
		}()
	}
	var all error
	for range c.Endpoints {
		err := <-results
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return fmt.Errorf("no member of the cluster can be reached: %w", all)
}

func (c Config) reachOne(ctx context.Context, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	end, _ := ctx.Deadline()
	if err := conn.SetDeadline(end); err != nil {
		return err
	}
	if u.Scheme == "http" {
		if err := settings(conn); err != nil {
			return fmt.Errorf("it does not respond as etcd does; is it https? (%w)", err)
		}
		return nil
	}
	config := c.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	config.NextProtos = []string{"h2"}
	t := tls.Client(conn, config)
	if err := t.HandshakeContext(ctx); errors.Is(err, io.EOF) || errors.As(err, new(tls.RecordHeaderError)) {
		return fmt.Errorf("it does not respond with TLS; is it http? (%w)", err)
	} else if err != nil {
		return err
	}
	// A member that refuses the client's certificate says so only after the
	// client's part of the handshake.
	return settings(t)
}

// settings begins HTTP/2 and waits for the first frame of the other side, which
// must be its settings (RFC 9113, section 3.4).
func settings(conn net.Conn) error {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if _, err := io.WriteString(conn, preface); err != nil {
		return err
	}
	var frame [9]byte
	if _, err := io.ReadFull(conn, frame[:]); err != nil {
		return err
	}
	if frame[3] != 4 {
		return errors.New("its first HTTP/2 frame is not SETTINGS")
	}
	return nil
}
