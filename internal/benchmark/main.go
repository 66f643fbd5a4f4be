// Benchmark measures how close the petstore comes to the limits of the
// machine it runs on, and prints the figures as a Markdown table:
//
//	go run ./internal/benchmark
//
// Each figure is held against a limit that is measured in the same run: the
// least that net/http can do, the least that bbolt can do, or the same store
// in another state. The two are measured in turn, pair by pair, and the figure
// is the median of the pairs' ratios. See docs/performance.md.
//
// A figure that is not reached is no failure: the exit code is 1 only if
// something could not be measured, or if two sides that have to give the same
// answer did not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"time"
)

func main() {
	if runChild() {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "benchmark: %v\n", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("wrong use; see benchmark -h")

// figures are all there are, in the order that they are measured and printed
// in. The first makes the large file that those after it use.
var figures = []figure{
	{"load", (*bench).bulk},
	{"get", (*bench).get},
	{"list-20", (*bench).list20},
	{"list-100", (*bench).list100},
	{"list-100-sold", (*bench).list100Sold},
	{"allocations", (*bench).allocations},
	{"create-1", (*bench).createOne},
	{"create-64", (*bench).createMany},
	{"large-get", (*bench).largeGet},
	{"large-list", (*bench).largeList},
	{"large-status", (*bench).largeStatus},
	{"large-create", (*bench).largeCreate},
	{"open", (*bench).open},
	{"memory", (*bench).memory},
	{"mixed", (*bench).mixed},
	{"growth", (*bench).growth},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	fs.SetOutput(stderr)
	b := &bench{ctx: ctx, log: stderr}
	glob := fs.String("run", "*", "measure the figures whose names match the `glob`:"+names())
	fs.IntVar(&b.pairs, "pairs", 15, "`number` of pairs to measure for each figure")
	fs.DurationVar(&b.duration, "duration", 2*time.Second, "`duration` of each half of a pair; wrk takes whole seconds")
	fs.Int64Var(&b.pets, "pets", 10_000_000, "`number` of pets in the large file; it takes about 250 bytes each while it is made")
	fs.StringVar(&b.dir, "dir", "", "`folder` for the files, on the disk to measure; those of pets are kept there for the next run; empty: a temporary folder")
	plot := fs.String("plot", "", "`file` to draw the growth of costs in, as SVG; needs the figure growth")
	doc := fs.String("doc", "", "`file` in Markdown to put the tables into, between the lines <!-- figures --> and <!-- end of figures -->")
	jsonFile := fs.String("json", "", "`file` to write everything that was measured to, as JSON")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return errUsage // the flag package has said the rest
	}
	chosen, err := choose(*glob)
	switch {
	case err != nil:
		return fmt.Errorf("-run: %w", err)
	case fs.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: %w", fs.Arg(0), errUsage)
	case b.pairs < 1 || b.duration <= 0 || b.pets < smallPets:
		return fmt.Errorf("-pairs must be at least 1, -duration positive, -pets at least %d: %w", smallPets, errUsage)
	}
	if *doc != "" {
		if _, _, err := cutTables(*doc); err != nil { // now rather than in half an hour
			return fmt.Errorf("-doc: %w", err)
		}
	}
	b.wrk, _ = exec.LookPath("wrk")
	if err := b.prepare(); err != nil {
		return err
	}
	defer b.close()
	rep, failed := b.measure(chosen)
	rep.print(stdout)
	if *plot != "" && len(rep.Growth) > 0 {
		failed = errors.Join(failed, os.WriteFile(*plot, drawGrowth(rep.Growth), 0o644))
	}
	if *jsonFile != "" {
		failed = errors.Join(failed, rep.write(*jsonFile))
	}
	if *doc != "" && failed == nil {
		failed = rep.putInto(*doc)
	}
	return failed
}

func names() string {
	s := ""
	for _, f := range figures {
		s += " " + f.name
	}
	return s
}

func choose(glob string) ([]figure, error) {
	var chosen []figure
	for _, f := range figures {
		ok, err := path.Match(glob, f.name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w: %w", glob, err, errUsage)
		}
		if ok {
			chosen = append(chosen, f)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("%q names none of:%s: %w", glob, names(), errUsage)
	}
	return chosen, nil
}

// measure measures figures. One that cannot be measured does not keep the
// others from it.
func (b *bench) measure(chosen []figure) (*report, error) {
	rep := &report{
		Machine: machine(), Busy: busy(), Client: "the Go client",
		Pairs: b.pairs, Seconds: b.duration.Seconds(), Pets: b.pets,
	}
	if b.wrk != "" {
		rep.Client = "wrk"
	}
	var failed error
	for _, f := range chosen {
		start := time.Now()
		rows, err := f.run(b)
		for _, r := range rows {
			fmt.Fprintf(b.log, "%s: %s, held against %s: %s\n", f.name, r.Figure, r.Against, r.measured())
		}
		rep.Rows = append(rep.Rows, rows...)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", f.name, err))
		}
		fmt.Fprintf(b.log, "%s: took %v\n", f.name, time.Since(start).Round(time.Second))
		if b.ctx.Err() != nil {
			break
		}
	}
	rep.Growth = b.grown
	return rep, failed
}
