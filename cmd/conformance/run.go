package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
)

// settings are the flags of conformance run.
type settings struct {
	target  conformance.Target
	opts    conformance.Options
	keyFile string
	known   string
	selection
	level    string
	ca       string
	insecure bool
	reports  reports
	verbose  bool
}

func runCommand() flags.Command {
	var s settings
	return flags.Command{
		Name:  "run",
		About: "run the checks against a target and report what they find",
		Flags: s.define,
		Run:   s.judge,
	}
}

func (s *settings) define(fs *flag.FlagSet) {
	s.defineTarget(fs)
	s.selection.define(fs)
	fs.StringVar(&s.level, "level", "required", "lowest `level` that counts against the target: required, or recommended to count warnings as failures")
	fs.BoolVar(&s.opts.ReadOnly, "read-only", false, "send only GET; the checks that need other requests are skipped")
	fs.StringVar(&s.known, "known", "", "`file` of known failures, one line each: the ID of a check and the reason; they do not count, and if one passes, the run fails")
	fs.StringVar(&s.target.Implementation, "implementation", "", "`name` of the target, for the reports")
	fs.Func("report", "also write a report, as `format=file`: text, json, junit or html; an existing file is replaced; with - this report goes to standard output, and the printed one to standard error; can be repeated", func(v string) error {
		return s.reports.add(v, report.Formats()...)
	})
	fs.BoolVar(&s.verbose, "v", false, "also show in text reports each failed check and each warning with its curl command, and each inconclusive check and known failure")
}

// defineTarget defines the flags for the target and for how to send requests to it.
func (s *settings) defineTarget(fs *flag.FlagSet) {
	fs.StringVar(&s.target.URL, "url", "", "base `URL` of the target: the part before /pets, as in http://127.0.0.1:8080/v1")
	fs.StringVar(&s.target.MessagesURL, "messages-url", "", "base `URL` of the messages: the part before /messages (default: that of -url, if it has messages)")
	fs.StringVar(&s.target.Key, "key", "", "API `key`; other users of the machine can read it on the command line, but not in the environment variable PETSTORE_API_KEY or in -key-file")
	fs.StringVar(&s.keyFile, "key-file", "", "`file` that contains the API key and nothing else")
	fs.Func("category", "`id` of a category that the target accepts (default: an arbitrary one, if the target accepts that)", func(v string) error {
		id, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return errors.New("must be a 64-bit integer")
		}
		s.opts.Category = &id
		return nil
	})
	fs.IntVar(&s.opts.Parallel, "parallel", 16, "largest `number` of requests to send at once; a run begins with 4, and sends more only to a target that is far away")
	fs.DurationVar(&s.opts.Timeout, "timeout", 10*time.Second, "`time` to wait for each response")
	fs.Float64Var(&s.opts.Rate, "rate", 0, "`number` of requests to send in a second at most; 0: no limit")
	fs.Func("H", "header field to add to every request, as `Name: value`; no report shows the value; can be repeated", s.addField)
	fs.StringVar(&s.ca, "ca", "", "`file` of PEM certificates to verify an https target with, instead of those of the system")
	fs.BoolVar(&s.insecure, "insecure", false, "do not verify the certificate of an https target")
}

// selection is the flags that select checks.
type selection struct{ run, skip string }

func (s *selection) define(fs *flag.FlagSet) {
	fs.StringVar(&s.run, "run", "", "select only the checks whose IDs match one of these `globs`, separated by commas; * stands for any text")
	fs.StringVar(&s.skip, "skip", "", "skip the checks whose IDs match one of these `globs`")
}

// split returns the parts of a flag's value, which commas separate.
func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// addField adds a header field to every request.
func (s *settings) addField(field string) error {
	name, value, ok := strings.Cut(field, ":")
	if !ok {
		return errors.New("must be Name: value")
	}
	if s.opts.Header == nil {
		s.opts.Header = make(http.Header)
	}
	s.opts.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	return nil
}

// verify sets how the certificate of an https target is verified.
func (s *settings) verify() error {
	if s.insecure && s.ca != "" {
		return flags.Usagef("-ca and -insecure cannot be used together")
	}
	if s.insecure {
		s.opts.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	if s.ca == "" {
		return nil
	}
	b, err := os.ReadFile(s.ca)
	if err != nil {
		return flags.Usagef("-ca: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return flags.Usagef("-ca: %s has no PEM certificate", s.ca)
	}
	s.opts.TLS = &tls.Config{RootCAs: pool}
	return nil
}

// judge judges the target and writes the reports. Its error has the exit code.
func (s *settings) judge(c *flags.Call) error {
	if err := s.complete(c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := s.reports.check(); err != nil {
		return err
	}
	if isTerminal(c.Stderr) {
		s.opts.Progress = func(what string) { fmt.Fprintf(c.Stderr, "\r\x1b[K%s …", what) }
		defer fmt.Fprint(c.Stderr, "\r\x1b[K") // clears the line
	}
	log.SetOutput(io.Discard) // net/http logs what a broken target sends beside its responses
	result, err := conformance.Run(ctx, s.target, &s.opts)
	stop() // a signal now ends the program, which may wait for the reader of a FIFO
	if errors.Is(err, conformance.ErrOptions) {
		return flags.Usagef("%v", err)
	}
	if err != nil {
		return err
	}
	err = s.reports.write(c, func(w io.Writer, f report.Format) error {
		color := isTerminal(w) && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
		return report.Write(w, result, f, &report.Options{Color: color, Verbose: s.verbose})
	})
	if err != nil {
		return err
	}
	switch {
	case result.Passed() && result.Outcome == conformance.Partial:
		return flags.Exit(exitPartial)
	case result.Passed():
		return nil
	case result.Outcome == conformance.Incomplete:
		return flags.Exit(exitNotJudged)
	}
	return flags.Exit(exitNotConformant)
}

// complete sets what depends on several flags or on files.
func (s *settings) complete(c *flags.Call) error {
	s.opts.Run, s.opts.Skip = split(s.run), split(s.skip)
	s.opts.Level = conformance.Level(s.level)
	if err := s.verify(); err != nil {
		return err
	}
	if s.target.Key == "" && s.keyFile == "" {
		s.target.Key = c.Getenv("PETSTORE_API_KEY")
	}
	switch rate := s.opts.Rate; {
	case s.opts.Parallel < 1:
		return flags.Usagef("-parallel: must be at least 1, got %d", s.opts.Parallel)
	case s.opts.Timeout < time.Millisecond:
		return flags.Usagef("-timeout: must be at least 1ms, got %v", s.opts.Timeout)
	case rate != 0 && !(rate >= 0.001 && rate <= 1e6):
		return flags.Usagef("-rate: must be 0 or from 0.001 to 1000000, got %v", rate)
	case s.keyFile != "" && s.target.Key != "":
		return flags.Usagef("-key and -key-file cannot be used together")
	case s.keyFile != "":
		b, err := os.ReadFile(s.keyFile)
		if err != nil {
			return flags.Usagef("-key-file: %v", err)
		}
		s.target.Key = strings.TrimSpace(string(b))
	case s.target.Key == "" && s.target.URL != "":
		return flags.Usagef("no API key: set -key-file, the environment variable PETSTORE_API_KEY or -key")
	}
	if s.known == "" {
		return nil
	}
	f, err := os.Open(s.known)
	if err != nil {
		return flags.Usagef("-known: %v", err)
	}
	defer f.Close()
	if s.opts.Known, err = conformance.ReadKnown(f); err != nil {
		return flags.Usagef("-known: %s: %v", s.known, err)
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
