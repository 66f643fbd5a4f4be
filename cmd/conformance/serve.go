package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/petstoretest"
)

// serveSettings are the flags of conformance serve.
type serveSettings struct {
	addr     string
	seed     uint64
	only     []string
	duration time.Duration
	requests int
	reports  reports
}

func serveCommand() flags.Command {
	var s serveSettings
	return flags.Command{
		Name:  "serve",
		About: "judge a client: serve it with difficulties that the contract allows",
		Flags: s.define,
		Run:   s.serve,
	}
}

func (s *serveSettings) define(fs *flag.FlagSet) {
	fs.StringVar(&s.addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 is a free one")
	fs.Uint64Var(&s.seed, "seed", 0, "`number` that determines which requests meet which difficulty; with 0 it is a random one, which the report shows")
	fs.Func("only", "`names` of the only difficulties, separated by commas (default: all)", s.setOnly)
	fs.DurationVar(&s.duration, "for", 0, "stop after this `time` (default: at Ctrl-C)")
	fs.IntVar(&s.requests, "requests", 0, "stop after this `number` of requests")
	fs.Func("report", "also write a report, as `format=file`, in the format text or json; with - as the file, this report goes to standard output and all other output to standard error; can be repeated", func(v string) error {
		return s.reports.add(v, report.Text, report.JSON)
	})
}

// setOnly sets the value of -only.
func (s *serveSettings) setOnly(value string) error {
	var all []string
	for _, d := range petstoretest.Difficulties() {
		all = append(all, d.Name)
	}
	s.only = strings.Split(value, ",")
	for _, name := range s.only {
		if !slices.Contains(all, name) {
			return fmt.Errorf("unknown difficulty %q; the difficulties are %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// serve serves clients until a signal or a limit of the flags, and reports on them.
// Its error determines the exit code.
func (s *serveSettings) serve(c *flags.Call) error {
	if s.duration < 0 || s.requests < 0 {
		return flags.Usagef("-for and -requests: must not be negative")
	}
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
	out := s.reports.printed(c)
	if err := s.introduce(out, srv); err != nil {
		srv.Close()
		return flags.Usagef("%w", err)
	}
	s.wait(ctx, srv)
	stop() // a second signal ends the program at once
	srv.Close()

	result := clientReport{"petstore-client/1", srv.URL, s.seed, srv.Summary()}
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
func (s *serveSettings) introduce(w io.Writer, srv *petstoretest.Server) error {
	var names []string
	for _, met := range srv.Summary().Met {
		names = append(names, met.Difficulty)
	}
	_, err := fmt.Fprintf(w, `base address  %s
API key       %s
difficulties  %s

curl -i -H 'Authorization: Bearer %s' %s/pets

`, srv.URL, srv.Key, strings.TrimSpace(wrap(names, "              ")), srv.Key, srv.URL)
	return err
}

// wait waits until ctx is done, or until the time or the number of requests that
// the flags set.
func (s *serveSettings) wait(ctx context.Context, srv *petstoretest.Server) {
	if s.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.duration)
		defer cancel()
	}
	for ctx.Err() == nil && (s.requests == 0 || srv.Summary().Requests < s.requests) {
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// clientReport is the report on the clients.
type clientReport struct {
	Format string `json:"format"`
	URL    string `json:"url"`
	Seed   uint64 `json:"seed"`
	petstoretest.Summary
}
