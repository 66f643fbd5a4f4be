package serve

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// newPair returns both ends of a connection, the first with late deadlines.
func newPair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(ln, 1)
	defer l.Close()
	theirs = dial(t, l)
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	return ours, theirs
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	ours, theirs := newPair(t)
	read := func() error {
		_, err := ours.Read(make([]byte, 1))
		return err
	}
	set := func(at time.Time) {
		t.Helper()
		if err := ours.SetReadDeadline(at); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // after a deadline was exceeded, another can be set
		set(time.Now().Add(10 * time.Millisecond))
		if err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("reading past the deadline: %v", err)
		}
	}

	for name, at := range map[string]time.Time{"moved": time.Now().Add(time.Hour), "removed": {}} {
		set(at)
		go func() {
			time.Sleep(2 * lateness)
			theirs.Write([]byte("x"))
		}()
		if err := read(); err != nil {
			t.Errorf("reading with the deadline %s: %v", name, err)
		}
	}

	interrupted := make(chan error)
	go func() { interrupted <- read() }()
	set(time.Unix(1, 0))
	if err := <-interrupted; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an interrupted read: %v", err)
	}

	if err := ours.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(struct{ io.Writer }{ours}, zeros{})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing past the deadline to a client that does not read: %v", err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestTimerEnds(t *testing.T) {
	t.Parallel()
	ours, _ := newPair(t)
	c := ours.(*lateConn)
	time.Sleep(2 * lateness)
	c.Close()
	c.enforce() // as when the timer fires during Close
	if c.timer.Stop() {
		t.Error("the timer of a closed connection runs")
	}
}
