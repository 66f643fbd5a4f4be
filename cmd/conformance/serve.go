package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/petstoretest"
)

// serveSettings are the flags of conformance serve.
type serveSettings struct {
	addr    string
	seed    uint64
	only    []string
	reports reports
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
	fs.Uint64Var(&s.seed, "seed", 0, "`number` that determines which requests meet which difficulty; with 0 it is a random one, which the report shows")
	fs.Func("only", "`names` of the only difficulties, separated by commas (default: all)", func(v string) error {
		s.only = strings.Split(v, ",")
		return nil
	})
	fs.Func("report", "also write a report, as `format=file`, in the format text or json; with - as the file, this report goes to standard output and all other output to standard error; can be repeated", func(v string) error {
		return s.reports.add(v, report.Text, report.JSON)
	})
}

// serve serves clients until a signal, and reports on them. Its error determines the
// exit code.
func (s *serveSettings) serve(c *flags.Call) error {
	if err := s.reports.check(); err != nil {
		return err
	}
	if s.seed == 0 {
		s.seed = uint64(rand.Uint32())
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	srv, err := petstoretest.Start(petstoretest.Listen(s.addr), petstoretest.Difficult(s.seed, s.only...))
	if err != nil {
		return flags.Usagef("%w", err)
	}
	if err := introduce(s.reports.printed(c), srv); err != nil {
		srv.Close()
		return flags.Usagef("%w", err)
	}
	<-ctx.Done()
	stop() // a second signal ends the program at once
	srv.Close()

	result := clientReport{"petstore-client/3", srv.URL, s.seed, srv.Summary()}
	if err := s.reports.writeAs(c, result); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(result.Findings, func(f petstoretest.Finding) bool { return f.Certain }):
		return flags.Exit(exitNotConformant)
	case result.Succeeded == 0:
		return flags.Exit(exitNotJudged)
	}
	return nil
}

// introduce prints how to reach the server.
func introduce(w io.Writer, srv *petstoretest.Server) error {
	_, err := fmt.Fprintf(w, "base address  %s\nAPI key       %s\n\ncurl -i -H 'Authorization: Bearer %s' %s/pets\n\n", srv.URL, srv.Key, srv.Key, srv.URL)
	return err
}

// clientReport is the report on the clients.
type clientReport struct {
	Format string `json:"format"`
	URL    string `json:"url"`
	Seed   uint64 `json:"seed"`
	petstoretest.Summary
}

// String returns the report as text: the mistakes, the notes, and one line for each
// difficulty.
func (r clientReport) String() string {
	var b strings.Builder
	mistakes := 0
	for _, f := range r.Findings {
		if f.Certain {
			mistakes++
			fmt.Fprintf(&b, "MISTAKE %s\n", strings.ReplaceAll(f.String(), "\n", "\n  "))
		} else {
			first, _, _ := strings.Cut(f.String(), "\n")
			fmt.Fprintf(&b, "NOTE %s\n", first)
		}
	}
	b.WriteString("\n")
	for _, met := range r.Met {
		fmt.Fprintf(&b, "%-16s met %4d\n", met.Difficulty, met.Times)
	}
	verdict := "no mistake"
	switch {
	case mistakes == 1:
		verdict = "1 kind of mistake"
	case mistakes > 1:
		verdict = fmt.Sprint(mistakes, " kinds of mistakes")
	case r.Succeeded == 0:
		verdict = "nothing to judge"
	}
	fmt.Fprintf(&b, "\n%s: %d requests, %d succeeded, seed %d\n", verdict, r.Requests, r.Succeeded, r.Seed)
	return b.String()
}
