package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// patience is how long an answer may take.
const patience = 30 * time.Second

// request is what a client sends, over and over.
type request struct {
	Method string `json:"method"`
	Addr   string `json:"addr"` // host:port

	// Targets are asked for in turn.
	Targets []string `json:"targets"`

	Key  string `json:"key"`
	Body string `json:"body,omitzero"`
}

// text returns the request for a target as it goes over the wire.
func (r request) text(target string) string {
	s := r.Method + " " + target + " HTTP/1.1\r\nHost: " + r.Addr + "\r\nAuthorization: Bearer " + r.Key + "\r\n"
	if r.Body != "" {
		s += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(r.Body)) + "\r\n"
	}
	return s + "\r\n" + r.Body
}

// ask sends the request for the first target and returns the response, byte
// for byte.
func (r request) ask() ([]byte, error) {
	conn, err := net.DialTimeout("tcp", r.Addr, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, r.text(r.Targets[0])); err != nil {
		return nil, err
	}
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	if in.Buffered() > 0 {
		return nil, errors.New("more came than one response")
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s was answered with %q", r.Method, r.Targets[0], raw.String())
	}
	return raw.Bytes(), nil
}

// varying matches the header fields that differ from response to response.
var varying = regexp.MustCompile(`(?m)^(Date|X-Request-Id): .*$`)

// sameBytes sends the same request to two servers, and returns an error if
// their responses differ in more than the date and the request ID.
func sameBytes(a, b request) error {
	one, err := a.ask()
	if err != nil {
		return err
	}
	other, err := b.ask()
	if err != nil {
		return err
	}
	one, other = varying.ReplaceAll(one, nil), varying.ReplaceAll(other, nil)
	if !bytes.Equal(one, other) {
		return fmt.Errorf("the two sides give different answers to %s %s:\n%q\n%q", a.Method, a.Targets[0], one, other)
	}
	return nil
}

// canned is a response ready to be given again by a net/http handler.
type canned struct {
	status int
	fields []field
	body   []byte
}

type field struct {
	name   string
	values []string
}

// can takes a response apart. What net/http adds by itself it will add again:
// the Date, and what it writes after that.
func can(raw []byte) (canned, error) {
	head, body, ok := strings.Cut(string(raw), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	proto, status, _ := strings.Cut(lines[0], " ")
	code, _, _ := strings.Cut(status, " ")
	n, err := strconv.Atoi(code)
	if !ok || proto != "HTTP/1.1" || err != nil {
		return canned{}, fmt.Errorf("not a response: %q", raw)
	}
	c := canned{status: n, body: []byte(body)}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if name = textproto.CanonicalMIMEHeaderKey(name); name == "Date" {
			break
		}
		if last := len(c.fields) - 1; last >= 0 && c.fields[last].name == name {
			c.fields[last].values = append(c.fields[last].values, value)
			continue
		}
		c.fields = append(c.fields, field{name, []string{value}})
	}
	return c, nil
}

// write gives the response, as cheaply as a handler can that has nothing to
// find out: no field's name is made canonical, no value allocated.
func (c *canned) write(w http.ResponseWriter) {
	h := w.Header()
	for i := range c.fields {
		h[c.fields[i].name] = c.fields[i].values
	}
	if c.status != http.StatusOK {
		w.WriteHeader(c.status)
	}
	_, _ = w.Write(c.body)
}
