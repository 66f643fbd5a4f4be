package serve

import (
	"flag"
	"io"
	"log/slog"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/internal/flags"
)

// config is the flags of a server.
type config struct {
	addr      string
	basePath  string // as given; see base
	adminAddr string // "": none
	keyFile   string
	mustExist bool
	tlsCert   string // "": no TLS
	tlsKey    string
	logFormat string
	accessLog bool
	page      bool
	drain     time.Duration
	backup    backupConfig
	variables []string // the names of those that set a flag
}

// flags defines the flags that every server has.
func (c *config) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 picks a free one")
	fs.StringVar(&c.basePath, "base-path", "/v1", "`path` before /pets and /messages; / for none")
	fs.StringVar(&c.adminAddr, "admin-addr", "", "`host:port` for /metrics, /debug/pprof and the queued messages (/messages); it needs no key, so keep it private; empty: none")
	fs.StringVar(&c.tlsCert, "tls-cert", "", "`file` with the certificate chain (PEM), to serve HTTPS; needs -tls-key")
	fs.StringVar(&c.tlsKey, "tls-key", "", "`file` with the certificate's private key (PEM)")
	fs.StringVar(&c.logFormat, "log", "text", "format of the log on standard error: `text|json`")
	fs.BoolVar(&c.accessLog, "access-log", false, "log one line for each request under the base path")
	fs.BoolVar(&c.page, "page", true, "serve a web page at / that shows the pets and the interface")
	fs.DurationVar(&c.drain, "drain", 15*time.Second, "`duration` in which requests can finish after SIGTERM or SIGINT; a second signal ends the server at once")
}

// basePathForm has only characters that no client escapes.
var basePathForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// check returns an error that says which flag is wrong.
func (c *config) check() error {
	notAddr := func(s string) bool {
		_, _, err := net.SplitHostPort(s)
		return err != nil || strings.Contains(s, "/")
	}
	switch {
	case notAddr(c.addr):
		return flags.Usagef("-addr: must be host:port without a scheme, as in 127.0.0.1:8080 or :8080, got %q", c.addr)
	case c.adminAddr != "" && notAddr(c.adminAddr):
		return flags.Usagef("-admin-addr: must be host:port without a scheme, as in 127.0.0.1:9090, got %q", c.adminAddr)
	case c.basePath != "/" && (!basePathForm.MatchString(c.basePath) || path.Clean(c.basePath) != c.basePath):
		return flags.Usagef("-base-path: must be a path like /v1 or /store/v1, of letters, digits and - . _ ~, without a slash at its end, got %q", c.basePath)
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return flags.Usagef("-tls-cert and -tls-key: must be given together")
	case c.logFormat != "text" && c.logFormat != "json":
		return flags.Usagef("-log: must be text or json, got %q", c.logFormat)
	case c.drain < 0:
		return flags.Usagef("-drain: must not be negative, got %v", c.drain)
	}
	return nil
}

// misspelt returns the variables that look like those of this server and are not. Two are
// for clients, and Kubernetes sets those of a service that is named petstore.
func (c *config) misspelt(environ []string) (names []string) {
	known := append([]string{"PETSTORE_API_KEY", "PETSTORE_URL"}, c.variables...)
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		kubernetes := strings.HasPrefix(name, "PETSTORE_PORT") || strings.HasPrefix(name, "PETSTORE_SERVICE")
		if strings.HasPrefix(name, "PETSTORE_") && !kubernetes && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	return names
}

// base returns the base path: "" for the root, otherwise with a slash at its start
// and none at its end.
func (c *config) base() string { return strings.TrimSuffix(c.basePath, "/") }

// logHandler returns a handler that logs to w in the format of -log.
func (c *config) logHandler(w io.Writer) slog.Handler {
	if c.logFormat == "json" {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}
