package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"

	"go.etcd.io/bbolt"
)

// bareSettings are those of the bare server: the least that a net/http server
// can do to give an answer.
type bareSettings struct {
	Response []byte `json:"response"` // what every request is answered with

	// DB, if set, is a store that each request adds Puts to, in one
	// transaction, after it has read the request's body.
	DB   string `json:"db"`
	Puts []put  `json:"puts"`
	Last int64  `json:"last"` // the highest ID in DB
}

// serveBare serves until in ends. For each line there it tells how much has
// been allocated so far.
func serveBare(s bareSettings, in io.Reader) error {
	c, err := can(s.Response)
	if err != nil {
		return err
	}
	handler := func(w http.ResponseWriter, _ *http.Request) { c.write(w) }
	if s.DB != "" {
		db, err := bbolt.Open(s.DB, 0o600, nil)
		if err != nil {
			return err
		}
		defer db.Close()
		p := putter{db: db, puts: s.Puts, last: s.Last}
		handler = func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			if err == nil {
				err = p.create()
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			c.write(w)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := tell(ln.Addr().String()); err != nil {
		return err
	}
	srv := http.Server{Handler: http.HandlerFunc(handler)}
	go func() { _ = srv.Serve(ln) }()
	defer srv.Close()
	for one := make([]byte, 1); ; {
		if _, err := in.Read(one); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if err := tell(m.Mallocs); err != nil {
			return err
		}
	}
}

// bare is a running bare server.
type bare struct {
	*child
	addr string
}

func startBare(ctx context.Context, s bareSettings) (*bare, error) {
	c, err := startChild(ctx, "bare", s)
	if err != nil {
		return nil, err
	}
	b := &bare{child: c}
	if err := c.read(&b.addr); err != nil {
		_ = c.kill()
		return nil, err
	}
	return b, nil
}

func (b *bare) pid() int { return b.cmd.Process.Pid }

// mallocs returns how many objects the server has allocated.
func (b *bare) mallocs() (n float64, err error) {
	if _, err := b.stdin.Write([]byte("\n")); err != nil {
		return 0, err
	}
	return n, b.read(&n)
}
