package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/petstoretest"
)

func serveCommand() flags.Command {
	var (
		addr    string
		seed    uint64
		verbose bool
	)
	return flags.Command{
		Name:  "serve",
		About: "judge a client: serve it with difficulties that the contract allows, until Ctrl-C",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 is a free one")
			fs.BoolVar(&verbose, "v", false, "print each request and what the client receives")
			fs.Uint64Var(&seed, "seed", 0,
				"`number` that determines which requests fail; with 0 it is a random one, which the report shows")
		},
		Run: func(c *flags.Call) error {
			if seed == 0 {
				seed = uint64(rand.Uint32())
			}
			handler := petstoretest.NewHandler(&petstoretest.Options{Difficult: true, Seed: seed})
			if verbose {
				handler.Log = c.Stdout
			}
			if err := serve(c, addr, handler); err != nil {
				return err
			}
			return report(c, handler.Summary(), seed)
		},
	}
}

// serve serves clients until a signal.
func serve(c *flags.Call, addr string, handler http.Handler) error {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return flags.Usagef("-addr: %w", err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	fmt.Fprintf(c.Stdout, "base address  %[1]s\nAPI key       %[2]s\n\ncurl -i -H 'Authorization: Bearer %[2]s' %[1]s/pets\n\n", url, petstoretest.Key)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header() // browsers may use the server (Fetch standard, CORS protocol)
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Expose-Headers", "Link, Retry-After")
		if r.Method != http.MethodOptions {
			handler.ServeHTTP(w, r)
		}
	})}
	go server.Serve(listener)
	<-ctx.Done()
	_ = server.Close()
	return nil
}

// report prints the mistakes of the clients and the counts. Its error determines the exit code.
func report(c *flags.Call, s petstoretest.Summary, seed uint64) error {
	for _, f := range s.Findings {
		fmt.Fprintf(c.Stdout, "\nMISTAKE %s\n", strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
	verdict, code := "no mistake", flags.Exit(0)
	switch {
	case len(s.Findings) > 0:
		verdict, code = fmt.Sprintf("kinds of mistakes: %d", len(s.Findings)), exitNotConformant
	case s.Succeeded == 0:
		verdict, code = "nothing to judge", exitNotJudged
	}
	if _, err := fmt.Fprintf(c.Stdout, "\n%s\n\n%s, seed %d (-v prints each request)\n", s, verdict, seed); err != nil {
		return flags.Usagef("%w", err)
	}
	return code
}
