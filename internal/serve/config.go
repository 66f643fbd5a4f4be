package serve

import (
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"path"
	"strings"
	"time"
)

// config is how a server was told to serve.
type config struct {
	addr         string
	basePath     basePath
	messagesAddr string
	adminAddr    string
	keys         string
	newStore     bool
	mustExist    bool
	tlsCert      string
	tlsKey       string
	log          choice
	accessLog    bool
	sunset       choice
	drain        time.Duration
}

func (c *config) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 picks a free one")
	c.basePath = "/v1"
	fs.Var(&c.basePath, "base-path", "`path` before /pets and /messages; / for none")
	fs.StringVar(&c.messagesAddr, "messages-addr", "", "`host:port` to serve POST /messages on, under the base path too; empty: that of -addr")
	fs.StringVar(&c.adminAddr, "admin-addr", "", "`host:port` for /debug/vars, /debug/pprof and the queued messages (/messages); it asks for no key, so keep it private; empty: none")
	keysFlag(fs, &c.keys)
	fs.StringVar(&c.tlsCert, "tls-cert", "", "`file` with the certificate chain (PEM), to serve HTTPS; needs -tls-key; SIGHUP loads both again")
	fs.StringVar(&c.tlsKey, "tls-key", "", "`file` with the certificate's private key (PEM)")
	c.log = choice{"text", []string{"text", "json"}}
	fs.Var(&c.log, "log", "form of the log on standard error: `text|json`")
	fs.BoolVar(&c.accessLog, "access-log", false, "log one line a request")
	c.sunset = choice{"serve", []string{"serve", "gone"}}
	fs.Var(&c.sunset, "sunset", "what GET /pets/{petId} does from 5 December 2030 on, `serve|gone`: go on, or answer 410")
	fs.DurationVar(&c.drain, "drain", 10*time.Second, "`duration` in which requests can finish after SIGTERM, SIGINT or, without TLS, SIGHUP; a second SIGTERM or SIGINT ends the server at once")
}

func (c *config) fileFlags(fs *flag.FlagSet) {
	fs.BoolVar(&c.newStore, "new-store", false, "make an empty store although the key file exists; a first start, without either, needs no flag")
	fs.BoolVar(&c.mustExist, "must-exist", false, "refuse to start without a store, on a first start too; for a store on a volume that may not be mounted")
}

// check finds what is wrong with the flags together.
func (c *config) check(args []string) error {
	switch {
	case len(args) > 0:
		return usagef("unexpected argument %q", args[0])
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return usagef("-tls-cert and -tls-key need each other")
	case c.newStore && c.mustExist:
		return usagef("-new-store and -must-exist cannot be used together")
	case c.drain < 0:
		return usagef("-drain: must not be negative")
	}
	for _, a := range []struct {
		flag, addr string
		optional   bool
	}{{"addr", c.addr, false}, {"messages-addr", c.messagesAddr, true}, {"admin-addr", c.adminAddr, true}} {
		if a.optional && a.addr == "" {
			continue
		}
		if err := CheckAddr(a.flag, a.addr); err != nil {
			return err
		}
	}
	return nil
}

// CheckAddr returns a [UsageError] unless addr, the value of a flag, is of the
// form host:port.
func CheckAddr(flag, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil || strings.Contains(addr, "/") {
		return usagef("-%s %q: must be host:port without a scheme, as in 127.0.0.1:8080 or :8080", flag, addr)
	}
	return nil
}

// logHandler returns a handler that logs to w in the form that c asks for.
func (c *config) logHandler(w io.Writer) slog.Handler {
	if c.log.value == "json" {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}

// basePath is a path that others are under: "" for the root, else with a
// slash at its start and none at its end.
type basePath string

func (b *basePath) String() string {
	if *b == "" {
		return "/"
	}
	return string(*b)
}

func (b *basePath) Set(s string) error {
	if s == "/" {
		*b = ""
		return nil
	}
	// No character that can be escaped in one place and not in another.
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/-._~", r))
	}) < 0
	if !plain || !strings.HasPrefix(s, "/") || path.Clean(s) != s {
		return errors.New("must be a path like /v1 or /store/v1, of letters, digits and - . _ ~, without a slash at its end")
	}
	*b = basePath(s)
	return nil
}
