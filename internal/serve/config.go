package serve

import (
	"flag"
	"net"
	"strings"
	"time"

	"example.com/animalstore/internal/flags"
)

// config is the flags of a server.
type config struct {
	addr          string
	messagesAddr  string // "": messages are on addr
	adminAddr     string // "": none
	keyFile       string
	mustExist     bool
	tlsCert       string // "": no TLS
	tlsKey        string
	drain         time.Duration
	withoutGetPet bool
	accessLog     bool
	logFormat     string
	backupDir     string // "": no backups
	backupEvery   time.Duration
	backupKeep    int
}

const (
	defaultEvery = time.Hour
	defaultKeep  = 24
)

// flags defines the flags that every server has. files are those that -must-exist requires.
func (c *config) flags(fs *flag.FlagSet, files string) {
	c.backupEvery, c.backupKeep = defaultEvery, defaultKeep // for check, of a server without these flags
	fs.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 picks a free one")
	fs.StringVar(&c.messagesAddr, "messages-addr", "", "`host:port` to serve POST /messages on, with the TLS and keys of -addr, and not below /v1 then; empty: below /v1 of -addr")
	fs.StringVar(&c.adminAddr, "admin-addr", "", "`host:port` for /metrics and the queued messages (/messages); it needs no key, so keep it private; empty: none")
	KeysFlag(fs, &c.keyFile)
	fs.BoolVar(&c.mustExist, "must-exist", false, "refuse to start if "+files+" does not exist, as on a volume that is not mounted")
	fs.BoolVar(&c.withoutGetPet, "without-getpet", false, "leave out GET /pets/{petId}, which the contract schedules for removal on 5 December 2030: the path is then 404")
	fs.StringVar(&c.tlsCert, "tls-cert", "", "`file` with the certificate chain (PEM), to serve HTTPS; needs -tls-key")
	fs.StringVar(&c.tlsKey, "tls-key", "", "`file` with the certificate's private key (PEM)")
	fs.BoolVar(&c.accessLog, "access-log", false, "log each request and its response, without its query, its body and its key; not health probes and the web page")
	fs.StringVar(&c.logFormat, "log-format", "text", "`format` of the log: text or json")
	fs.DurationVar(&c.drain, "drain", 15*time.Second, "`duration` in which requests can finish after SIGTERM or SIGINT; a second signal ends the server at once")
}

// backupFlags defines the flags of a server whose store is in a file.
func (c *config) backupFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.backupDir, "backup-dir", "", "`folder` for backups of the store and the key file, for this server alone and on another disk if possible; empty: none are made")
	fs.DurationVar(&c.backupEvery, "backup-every", defaultEvery, "`duration` from one backup to the next")
	fs.IntVar(&c.backupKeep, "backup-keep", defaultKeep, "`number` of backups to keep; older ones are removed")
}

// check returns an error that says which flag is wrong.
func (c *config) check() error {
	for flag, addr := range map[string]string{"addr": c.addr, "messages-addr": c.messagesAddr, "admin-addr": c.adminAddr} {
		if !validAddr(addr) && (addr != "" || flag == "addr") {
			return flags.Usagef("-%s: must be host:port without a scheme and with a port from 0 to 65535, as in 127.0.0.1:8080 or :8080, got %q", flag, addr)
		}
	}
	switch {
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return flags.Usagef("-tls-cert and -tls-key: must be given together")
	case c.logFormat != "text" && c.logFormat != "json":
		return flags.Usagef("-log-format: must be text or json, got %q", c.logFormat)
	case c.drain < 0 || c.drain > 24*time.Hour:
		return flags.Usagef("-drain: must be from 0s to 24h, got %v", c.drain)
	case c.backupDir == "" && (c.backupEvery != defaultEvery || c.backupKeep != defaultKeep):
		return flags.Usagef("-backup-every and -backup-keep: need -backup-dir")
	case c.backupEvery < time.Second:
		return flags.Usagef("-backup-every: must be at least 1s, got %v", c.backupEvery)
	case c.backupKeep < 1:
		return flags.Usagef("-backup-keep: must be at least 1, got %d", c.backupKeep)
	}
	return nil
}

// validAddr reports whether addr has the form that net.Listen wants. It does not look up
// the host.
func validAddr(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err == nil && !strings.Contains(addr, "/")
}
