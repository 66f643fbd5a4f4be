package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

// settings are the flags of conformance run.
type settings struct {
	target      conformance.Target
	opts        conformance.Options
	json, junit string
	verbose     bool
}

func runCommand() flags.Command {
	var s settings
	return flags.Command{
		Name:  "run",
		About: "judge a target with the API key in the environment variable PETSTORE_API_KEY",
		Flags: s.define,
		Run:   s.run,
	}
}

func (s *settings) define(fs *flag.FlagSet) {
	fs.StringVar(&s.target.URL, "url", "", "base `URL` of the target: the part before /pets, as in http://127.0.0.1:8080/v1")
	fs.StringVar(&s.target.MessagesURL, "messages-url", "", "base `URL` of the messages: the part before /messages (default: that of -url, if it has messages)")
	fs.BoolVar(&s.target.PetsOnly, "pets-only", false, "the target has no messages: send none, and leave their checks out of the run")
	fs.Func("category", "`id` of a category that the target accepts (default: an arbitrary one, if the target accepts that)", func(v string) error {
		id, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return errors.New("must be a 64-bit integer")
		}
		s.opts.Category = &id
		return nil
	})
	fs.IntVar(&s.opts.Parallel, "parallel", 8, "largest `number` of requests at a time; more judge a target sooner that is far away")
	fs.DurationVar(&s.opts.Timeout, "timeout", 10*time.Second, "`time` to wait for each response")
	globs := func(name, usage string, to *[]string) {
		fs.Func(name, usage+" the checks whose IDs match one of these `globs`, separated by commas; * stands for any text; may be repeated", func(v string) error {
			*to = append(*to, strings.Split(v, ",")...)
			return nil
		})
	}
	globs("run", "select only", &s.opts.Select)
	globs("skip", "leave out", &s.opts.Skip)
	fs.StringVar((*string)(&s.opts.FailLevel), "level", "required", "lowest `level` that counts against the target: required, or recommended to count warnings as failures")
	fs.BoolVar(&s.opts.ReadOnly, "read-only", false, "send only GET; the checks that need other requests are skipped")
	fs.StringVar(&s.json, "json", "", "also write the report to this `file`, as JSON")
	fs.StringVar(&s.junit, "junit", "", "also write the report to this `file`, as JUnit XML")
	fs.BoolVar(&s.verbose, "v", false, "also print each failure and warning with its curl command, and each check that was skipped")
}

// run judges the target and writes the reports. Its error has the exit code.
func (s *settings) run(c *flags.Call) error {
	s.target.Key = c.Getenv("PETSTORE_API_KEY")
	switch {
	case s.target.URL == "":
		return flags.Usagef("no target: name its base URL with -url, as in -url http://127.0.0.1:8080/v1")
	case s.target.Key == "":
		return flags.Usagef("no API key: set the environment variable PETSTORE_API_KEY")
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	log.SetOutput(io.Discard)    // net/http logs what a broken target sends beside its responses
	result, err := conformance.Run(ctx, s.target, &s.opts)
	if err != nil {
		return flags.Usagef("%v", err)
	}
	err = errors.Join(
		result.WriteText(c.Stdout, s.verbose),
		writeFile(s.json, result.WriteJSON),
		writeFile(s.junit, result.WriteJUnit))
	if err != nil {
		return flags.Usagef("%w", err)
	}
	return flags.Exit(map[conformance.Conclusion]int{
		conformance.Conformant:    exitConformant,
		conformance.NotConformant: exitNotConformant,
		conformance.NotJudged:     exitNotJudged,
		conformance.Partial:       exitPartial,
	}[result.Conclusion])
}

// writeFile writes a report to the file, if there is one.
func writeFile(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
