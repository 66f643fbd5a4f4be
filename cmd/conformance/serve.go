package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/petstoretest"
)

// serveSettings are the flags of conformance serve.
type serveSettings struct {
	addr    string
	seed    uint64
	only    []string
	plain   bool
	verbose bool
}

func serveCommand() flags.Command {
	var s serveSettings
	return flags.Command{
		Name:  "serve",
		About: "judge a client: serve it with difficulties that the contract allows, until Ctrl-C",
		Flags: s.define,
		Run:   s.serve,
	}
}

func (s *serveSettings) define(fs *flag.FlagSet) {
	fs.StringVar(&s.addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 is a free one")
	fs.BoolVar(&s.plain, "plain", false, "serve without difficulties; -only and -seed then mean nothing")
	fs.BoolVar(&s.verbose, "v", false, "print each request and what the client receives")
	fs.Uint64Var(&s.seed, "seed", 0,
		"`number` that determines which requests meet which difficulty; with 0 it is a random one, which the report shows")
	fs.Func("only", "`names` of difficulties, separated by commas: there are no others (default: all)", func(v string) error {
		s.only = strings.Split(v, ",")
		return nil
	})
}

// serve serves clients until a signal, and reports on them. Its error determines the
// exit code.
func (s *serveSettings) serve(c *flags.Call) error {
	if s.seed == 0 {
		s.seed = uint64(rand.Uint32())
	}
	difficulty := &petstoretest.Difficulty{Seed: s.seed, Names: s.only}
	if s.plain {
		difficulty = nil
	}
	handler, err := petstoretest.NewHandler(difficulty)
	if err != nil {
		return flags.Usagef("-only: %w", err)
	}
	if s.verbose {
		handler.Log = c.Stdout
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return flags.Usagef("-addr: %w", err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	fmt.Fprintf(c.Stdout, "base address  %s\nAPI key       %s\n\n", url, petstoretest.Key)
	fmt.Fprintf(c.Stdout, "curl -i -H 'Authorization: Bearer %s' %s/pets\n\n", petstoretest.Key, url)

	server := &http.Server{Handler: allowOrigins(handler)}
	go server.Serve(listener)
	<-ctx.Done()
	stop() // a second signal ends the program at once
	ending, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = server.Shutdown(ending) // a client that has not ended its request does not matter
	return s.report(c.Stdout, handler.Summary())
}

// allowOrigins lets clients in the pages of any site use next (Fetch standard, CORS
// protocol). A preflight is sent without a key.
func allowOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers",
			"Deprecation, Link, Location, Retry-After, Sunset, WWW-Authenticate, X-Request-ID")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		w.WriteHeader(http.StatusNoContent)
	})
}

// report prints the mistakes of the clients, and what the server has seen.
func (s *serveSettings) report(w io.Writer, r petstoretest.Summary) error {
	mistakes := 0
	for _, f := range r.Findings {
		mistakes += f.Count
		fmt.Fprintf(w, "\nMISTAKE %s\n", strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
	verdict, code := "no mistake", flags.Exit(0)
	switch {
	case mistakes > 0:
		verdict, code = fmt.Sprintf("mistakes: %d", mistakes), exitNotConformant
	case r.Succeeded == 0:
		verdict, code = "nothing to judge", exitNotJudged
	}
	if !s.plain {
		verdict += fmt.Sprintf(", seed %d", s.seed)
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\n%s (-v prints each request)\n", r, verdict); err != nil {
		return flags.Usagef("%w", err)
	}
	return code
}
