package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

const (
	// patience is how long Raw waits for 100 Continue before it sends the body.
	patience = 2 * time.Second

	// afterHeader is how long Raw waits for what follows a header, if the server
	// does not close the connection.
	afterHeader = 500 * time.Millisecond
)

// Raw sends r on a connection of its own and returns the response as it was received,
// which net/http hides: Header has every field, and Body is all that follows the
// header, chunk sizes included. Exchanges does not return it. If r expects 100
// Continue, Raw waits for it before it sends the body. Every request asks the server to
// close the connection. If the server does not, and the request has no body, Raw sends
// it again, to see whether the server responds.
func (c *Client) Raw(ctx context.Context, r Request) *Exchange {
	c.begin()
	defer c.leave()
	sleep(ctx, c.turn()) // if the context ends, so does the exchange
	c.Close()            // the server may limit connections
	x := &Exchange{Request: r, URL: c.urlOf(r), Sent: time.Now(), Attempts: 1}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if x.Err = c.raw(ctx, x); x.Err != nil {
		x.Err = cmp.Or(ctx.Err(), x.Err)
		x.Status = 0
	}
	x.Received = time.Now()
	return x
}

func (c *Client) raw(ctx context.Context, x *Exchange) error {
	hr, err := c.newRequest(ctx, x)
	if err != nil {
		return err
	}
	hr.Close = true
	var b bytes.Buffer
	if err := hr.Write(&b); err != nil {
		return err
	}
	head, body, _ := bytes.Cut(b.Bytes(), []byte("\r\n\r\n"))
	head = append(bytes.Clone(head), "\r\n\r\n"...)
	if x.Request.HTTP10 {
		head = bytes.Replace(head, []byte(" HTTP/1.1\r\n"), []byte(" HTTP/1.0\r\n"), 1)
	}
	conn, err := c.dial(ctx, hr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	in := textproto.NewReader(bufio.NewReader(conn))
	if _, err := conn.Write(head); err != nil {
		return err
	}
	if hr.Header.Get("Expect") != "" {
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := in.R.Peek(1); IsTimeout(err) {
			x.Silent = true
		} else if err := x.readHead(in); err != nil {
			return err
		}
	}
	if x.Status < 200 {
		conn.SetReadDeadline(time.Time{})
		if _, err := conn.Write(body); err != nil {
			return err
		}
	}
	for x.Status < 200 {
		if err := x.readHead(in); err != nil {
			return err
		}
	}
	conn.SetReadDeadline(time.Now().Add(afterHeader))
	x.Body, err = io.ReadAll(io.LimitReader(in.R, maxBody))
	if IsTimeout(err) && len(body) == 0 {
		conn.SetReadDeadline(time.Now().Add(patience))
		_, _ = conn.Write(head)
		next, _ := in.R.Peek(len("HTTP/1"))
		x.Kept = string(next) == "HTTP/1"
	}
	return nil
}

// readHead reads the status line and the header of a response.
func (x *Exchange) readHead(in *textproto.Reader) error {
	line, err := in.ReadLine()
	if err != nil {
		return plainError(err)
	}
	proto, rest, _ := strings.Cut(line, " ")
	status, _, _ := strings.Cut(rest, " ")
	x.Proto = proto
	if x.Status, err = strconv.Atoi(status); err != nil || !strings.HasPrefix(proto, "HTTP/1.") {
		return fmt.Errorf("the response begins with %q, not with a status line", Short(line))
	}
	header, err := in.ReadMIMEHeader()
	x.Header = http.Header(header)
	return err
}

// dial returns a new connection to the server of hr, for HTTP/1.
func (c *Client) dial(ctx context.Context, hr *http.Request) (net.Conn, error) {
	t, ok := c.http.Transport.(*http.Transport)
	if !ok {
		return nil, errors.New("the transport in the options is not an *http.Transport")
	}
	if t.Proxy != nil {
		if proxy, err := t.Proxy(hr); proxy != nil || err != nil {
			return nil, cmp.Or(err, errors.New("requests go through a proxy"))
		}
	}
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	port := map[string]string{"http": "80", "https": "443"}[hr.URL.Scheme]
	conn, err := dial(ctx, "tcp", net.JoinHostPort(hr.URL.Hostname(), cmp.Or(hr.URL.Port(), port)))
	if err != nil || hr.URL.Scheme == "http" {
		return conn, err
	}
	config := cmp.Or(t.TLSClientConfig.Clone(), new(tls.Config))
	config.ServerName = cmp.Or(config.ServerName, hr.URL.Hostname())
	config.NextProtos = []string{"http/1.1"}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}
