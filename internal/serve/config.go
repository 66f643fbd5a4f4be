package serve

import (
	"errors"
	"flag"
	"io"
	"log/slog"
	"path"
	"regexp"
	"time"

	"example.com/animalstore/internal/flags"
)

// config is the flags of a server.
type config struct {
	addr         string
	basePath     string // "" for the root, otherwise with a slash at its start and none at its end
	messagesAddr string // "": that of addr
	adminAddr    string // "": none
	keyFile      string
	newStore     bool
	mustExist    bool
	tlsCert      string // "": no TLS
	tlsKey       string
	logFormat    string
	accessLog    bool
	page         bool
	sunset       string
	origins      []string
	drain        time.Duration
}

// flags defines the flags that every server has.
func (c *config) flags(fs *flag.FlagSet) {
	flags.Var(fs, &c.addr, "addr", "127.0.0.1:8080", "`host:port` to serve on, where port 0 picks a free one, or unix:/path; a socket that systemd passes takes its place", parseAddr)
	flags.Var(fs, &c.basePath, "base-path", "/v1", "`path` before /pets and /messages; / for none", parseBasePath)
	flags.Var(fs, &c.messagesAddr, "messages-addr", "", "`host:port` to serve POST /messages on, also under the base path; empty: that of -addr", optionalHostPort)
	flags.Var(fs, &c.adminAddr, "admin-addr", "", "`host:port` for /metrics, /debug/pprof, /backup and the queued messages (/messages); it needs no key, so keep it private; empty: none", optionalHostPort)
	fs.StringVar(&c.tlsCert, "tls-cert", "", "`file` with the certificate chain (PEM), to serve HTTPS; needs -tls-key; SIGHUP loads both again")
	fs.StringVar(&c.tlsKey, "tls-key", "", "`file` with the certificate's private key (PEM)")
	flags.Var(fs, &c.logFormat, "log", "text", "format of the log on standard error: `text|json`", flags.OneOf("text", "json"))
	flags.Var(fs, &c.accessLog, "access-log", false, "log one line per request", flags.Bool)
	flags.Var(fs, &c.page, "page", true, "serve a web page at / that shows the pets and the interface", flags.Bool)
	flags.Var(fs, &c.sunset, "sunset", "serve", "what GET /pets/{petId} does from 5 December 2030: `serve|gone`; gone responds with 410", flags.OneOf("serve", "gone"))
	flags.Var(fs, &c.origins, "cors", nil, "`ORIGIN,ORIGIN,...` whose web pages may send requests, such as https://pets.example; * for all; empty: none", parseOrigins)
	// By default longer than httpapi.DiscardBody waits for a body.
	flags.Var(fs, &c.drain, "drain", 15*time.Second, "`duration` in which requests can finish after SIGTERM, SIGINT or, without TLS, SIGHUP; a second SIGTERM or SIGINT ends the server at once", flags.Duration(0))
}

// fileFlags defines the flags of a server whose store is in a file.
func (c *config) fileFlags(fs *flag.FlagSet) {
	flags.Var(fs, &c.newStore, "new-store", false, "create an empty store although the key file exists; a first start, without either, needs no flag", flags.Bool)
	flags.Var(fs, &c.mustExist, "must-exist", false, "refuse to start without a store, also on a first start; for a store on a volume that may not be mounted", flags.Bool)
}

// check returns an error for flags that do not fit together.
func (c *config) check() error {
	switch {
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return flags.Usagef("-tls-cert and -tls-key: must be given together")
	case c.newStore && c.mustExist:
		return flags.Usagef("-new-store and -must-exist cannot be used together")
	}
	return nil
}

// logHandler returns a handler that logs to w in the format of -log.
func (c *config) logHandler(w io.Writer) slog.Handler {
	if c.logFormat == "json" {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}

func optionalHostPort(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	return flags.HostPort(s)
}

// basePathForm has only characters that no client escapes.
var basePathForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func parseBasePath(s string) (string, error) {
	if s == "/" {
		return "", nil
	}
	if !basePathForm.MatchString(s) || path.Clean(s) != s {
		return "", errors.New("must be a path like /v1 or /store/v1, of letters, digits and - . _ ~, without a slash at its end")
	}
	return s, nil
}
