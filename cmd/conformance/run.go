package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

// errHelp ends a command that only had to print its help.
var errHelp = errors.New("help")

// settings are the flags of conformance run.
type settings struct {
	target  conformance.Target
	opts    conformance.Options
	keyFile string
	known   string
	run     string
	skip    string
	level   string
	reports reportFlags
	verbose bool
}

func (s *settings) flags() *flag.FlagSet {
	fs := newFlagSet("run")
	fs.StringVar(&s.target.URL, "url", "", "base `address` of the target: what stands before /pets, as in http://127.0.0.1:8080/v1")
	fs.StringVar(&s.target.MessagesURL, "messages-url", "", "base `address` of the messages: what stands before /messages; without it the message checks are skipped")
	fs.StringVar(&s.target.Key, "key", "", "API `key`; other users of the machine can read it on the command line, and not in -key-file or PETSTORE_API_KEY")
	fs.StringVar(&s.keyFile, "key-file", "", "`file` that holds the API key and nothing else (default: the environment variable PETSTORE_API_KEY has the key)")
	fs.StringVar(&s.run, "run", "", "run only the checks whose ids match one of these `globs`, separated by commas; * stands for any text")
	fs.StringVar(&s.skip, "skip", "", "skip the checks whose ids match one of these `globs`")
	fs.StringVar(&s.level, "level", "required", "least `level` that counts against the target: required, or recommended to make warnings failures")
	fs.BoolVar(&s.opts.Strict, "strict", false, "do not call a target conformant while a check is inconclusive")
	fs.BoolVar(&s.opts.ReadOnly, "read-only", false, "send nothing but GET; the checks that need more are skipped")
	int64Var(fs, &s.opts.Pet, "pet", "`id` of a pet that the target holds, to fetch in a read-only run (default: one from its list)")
	int64Var(fs, &s.opts.Category, "category", "`id` of a category that the target accepts (default: an arbitrary one, if it takes that)")
	fs.StringVar(&s.known, "known", "", "`file` of known failures: an id and a reason a line; they do not count, and one that passes fails the run")
	fs.Uint64Var(&s.opts.Seed, "seed", 0, "`number` that the generated cases come from (default: another one each time; the report has it)")
	fs.IntVar(&s.opts.Parallel, "parallel", 8, "`number` of checks to run at once")
	fs.DurationVar(&s.opts.Timeout, "timeout", 0, "`time` to wait for each answer (default 10s)")
	fs.Var(&s.reports, "report", "also write a report, as `format=file`: text, ansi, json, junit or html; an existing file is replaced; with - this report goes to\nstandard output, and the printed one to standard error; can be repeated")
	fs.BoolVar(&s.verbose, "v", false, "print each check as it ends, and have the texts show all: what the contract leaves open,\nevery skipped check, and failures alike in full")
	return fs
}

// newFlagSet returns a flag set that prints nothing by itself: what is wrong
// is said in one line, and help is for those who ask.
func newFlagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse parses the flags of a command.
func parse(fs *flag.FlagSet, synopsis string, args []string, env environment) error {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(env.stdout, "Usage: conformance %s %s\n", fs.Name(), synopsis)
		fs.SetOutput(env.stdout)
		fs.PrintDefaults()
		return errHelp
	case err != nil:
		flags.Explain(fs)
		return usagef("%s: %v", fs.Name(), fs.Parse(args)) // fails again, with a clearer error
	}
	return nil
}

func int64Var(fs *flag.FlagSet, p **int64, name, help string) {
	fs.Func(name, help, func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return errors.New("must be an integer of at most 64 bits")
		}
		*p = &n
		return nil
	})
}

// run judges a target. The code is only good without an error.
func run(ctx context.Context, args []string, env environment) (int, error) {
	var s settings
	fs := s.flags()
	if err := parse(fs, "-url URL [flags]", args, env); err != nil {
		return 0, err
	}
	if fs.NArg() > 0 {
		return 0, usagef("run: unexpected argument %q", fs.Arg(0))
	}
	if err := s.complete(env); err != nil {
		return 0, err
	}
	// Open the reports before the run, so that one that cannot be written is
	// an error before any request is sent.
	if err := s.reports.open(env); err != nil {
		return 0, err
	}
	defer s.reports.discard()

	watch := newProgress(env.stderr, s.verbose)
	s.opts.Done = watch.done
	report, err := conformance.Run(ctx, s.target, &s.opts)
	watch.end()
	switch {
	case errors.Is(err, conformance.ErrOptions):
		return 0, usageError{err}
	case err != nil:
		return 0, err
	}
	report.Verbose = s.verbose
	out, format := env.stdout, conformance.Text
	if s.reports.toStdout(env) {
		out = env.stderr // standard output holds that report alone
	}
	if isTerminal(out) && env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb" {
		format = conformance.ANSI
	}
	if err := report.Write(out, format); err != nil {
		return 0, usagef("the report cannot be printed: %v", err)
	}
	if err := s.reports.write(report); err != nil {
		return 0, err
	}
	switch {
	case report.Passed():
		return exitConformant, nil
	case report.Outcome == conformance.Incomplete:
		return exitNotJudged, nil
	}
	return exitNotConformant, nil
}

// complete reads what the flags name.
func (s *settings) complete(env environment) error {
	s.opts.Run, s.opts.Skip = globs(s.run), globs(s.skip)
	s.opts.Level = conformance.Level(s.level)
	switch {
	case s.target.Key != "" && s.keyFile != "":
		return usagef("run: give -key or -key-file, not both")
	case s.keyFile != "":
		b, err := os.ReadFile(s.keyFile)
		if err != nil {
			return usagef("run: -key-file: %v", err)
		}
		s.target.Key = strings.TrimSpace(string(b))
	case s.target.Key == "":
		s.target.Key = env.getenv("PETSTORE_API_KEY")
		if s.target.Key == "" && s.target.URL != "" {
			return usagef("run: no API key: give -key-file, the environment variable PETSTORE_API_KEY or -key")
		}
	}
	if s.known == "" {
		return nil
	}
	f, err := os.Open(s.known)
	if err != nil {
		return usagef("run: -known: %v", err)
	}
	defer f.Close()
	if s.opts.Known, err = conformance.ReadKnown(f); err != nil {
		return usagef("run: -known: %s: %v", s.known, err)
	}
	return nil
}

// globs splits a list at its commas.
func globs(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
