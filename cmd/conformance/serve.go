package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/petstoretest"
)

// serveSettings are the flags of conformance serve.
type serveSettings struct {
	addr string
	seed uint64
	only []string

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
	fs.BoolVar(&s.verbose, "v", false, "print each request and the status of its response")
	fs.Uint64Var(&s.seed, "seed", 0, "`number` that determines which requests meet which difficulty; with 0 it is a random one, which the report shows")
	fs.Func("only", "`names` of the only difficulties, separated by commas (default: all)", func(v string) error {
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
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	srv, err := petstoretest.Start(&petstoretest.Options{
		Addr:       s.addr,
		Difficult:  &petstoretest.Difficulty{Seed: s.seed, Names: s.only},
		Middleware: func(next http.Handler) http.Handler { return s.log(c.Stdout, allowOrigins(next)) },
	})
	if err != nil {
		return flags.Usagef("%w", err)
	}
	fmt.Fprintf(c.Stdout, "base address  %s\nAPI key       %s\n\ncurl -i -H 'Authorization: Bearer %s' %s/pets\n\n", srv.URL, srv.Key, srv.Key, srv.URL)
	<-ctx.Done()
	stop() // a second signal ends the program at once
	srv.Close()

	return s.report(c.Stdout, srv.Summary())
}

// allowOrigins lets clients in the pages of any site use next (Fetch standard, CORS
// protocol). A preflight is sent without a key.
func allowOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "Deprecation, Link, Location, Retry-After, Sunset, WWW-Authenticate, X-Request-ID")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		w.WriteHeader(http.StatusNoContent)
	})
}

// log prints a line for each request with -v.
func (s *serveSettings) log(w io.Writer, next http.Handler) http.Handler {
	if !s.verbose {
		return next
	}
	var mu sync.Mutex
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: rw}
		defer func() { // also if the connection is dropped
			mu.Lock()
			defer mu.Unlock()
			status := "no response"
			if rec.status != 0 {
				status = strconv.Itoa(rec.status)
			}
			fmt.Fprintf(w, "%s %q %s\n", r.Method, r.RequestURI, status)
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder remembers the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// report prints the report on the clients: the mistakes, and one line for each difficulty.
// Its error has the exit code.
func (s *serveSettings) report(w io.Writer, r petstoretest.Summary) error {
	mistakes := 0
	for _, f := range r.Findings {
		mistakes += f.Count
		fmt.Fprintf(w, "\nMISTAKE %s\n", strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
	fmt.Fprintln(w)
	for _, name := range slices.Sorted(maps.Keys(r.Met)) {
		fmt.Fprintf(w, "%-16s met %4d\n", name, r.Met[name])
	}
	verdict, code := "no mistake", flags.Exit(0)
	switch {
	case mistakes > 0:
		verdict, code = count(mistakes, "mistake")+" of "+count(len(r.Findings), "kind"), exitNotConformant
	case r.Succeeded == 0:
		verdict, code = "nothing to judge", exitNotJudged
	}
	if _, err := fmt.Fprintf(w, "\n%s: %d requests, %d succeeded (-v prints the status of each), seed %d\n", verdict, r.Requests, r.Succeeded, s.seed); err != nil {
		return flags.Usagef("%w", err)
	}
	return code
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
