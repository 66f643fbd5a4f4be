// Benchmark measures what the petstore costs on a cluster of three members
// on this machine, and prints the figures as a Markdown table:
//
//	go run -C cmd/refserver-etcd/cluster ./benchmark
//
// Each figure is a ratio to a simpler way, which is measured in turn with it, in
// pairs. The table shows the median of the pairs. Reads are compared with one
// plain Get of etcd's client, which reads one block of pets. Creations are
// compared with one transaction for each creation. See docs/cluster.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

func main() {
	local.Role()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// bench is a run of the benchmark.
type bench struct {
	ctx      context.Context
	out, log io.Writer
	pairs    int
	duration time.Duration
	pets     int64
	cluster  *local.Cluster
	client   *clientv3.Client
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	fs.SetOutput(stderr)
	b := &bench{ctx: ctx, out: stdout, log: stderr}
	fs.IntVar(&b.pairs, "pairs", 9, "`number` of pairs to measure for each figure")
	fs.DurationVar(&b.duration, "duration", time.Second, "`duration` of each half of a pair")
	fs.Int64Var(&b.pets, "pets", 500_000, "`number` of pets in the large store")
	only := fs.String("only", "", "measure only `reads|rare|creates|size`; empty: all")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "petstore-benchmark-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.cluster, err = local.Start(ctx, local.Options{
		Dir: dir, Members: 3,
		MemberArgs: []string{"--quota-backend-bytes=8589934592"},
	})
	if err != nil {
		return err
	}
	defer b.cluster.Kill()
	// The store sends its requests to the first member as long as that responds.
	// So does the client that it is compared with.
	b.client, err = clientv3.New(clientv3.Config{Endpoints: b.cluster.Endpoints()[:1], Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer b.client.Close()
	fmt.Fprintln(b.out, "| figure | ours | compared with | ratio | wanted |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|")
	for _, part := range []struct {
		name string
		run  func() error
	}{{"creates", b.creates}, {"reads", b.reads}, {"rare", b.rare}, {"size", b.size}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// rate calls work from several goroutines for the duration, and returns how many
// calls per second returned.
func (b *bench) rate(callers int, work func(caller int) error) (float64, error) {
	counts := make([]int, callers)
	errs := make(chan error, callers)
	start := time.Now()
	end := start.Add(b.duration)
	for c := range callers {
		go func() {
			for time.Now().Before(end) {
				if err := work(c); err != nil {
					errs <- err
					return
				}
				counts[c]++
			}
			errs <- nil
		}()
	}
	var failed error
	for range callers {
		failed = errors.Join(failed, <-errs)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds(), errors.Join(failed, b.ctx.Err())
}

// side measures one half of a pair and returns its rate.
type side func() (float64, error)

// compare measures two sides in turn, A B B A and so on. The first pair does not
// count. compare prints the row of the figure, and returns the medians of the
// rates.
func (b *bench) compare(figure, against, want string, ours, theirs side) (our, their float64, err error) {
	var a, z, ratios []float64
	for i := range b.pairs + 1 {
		var x, y float64
		var errX, errY error
		if i%2 == 0 {
			x, errX = ours()
			y, errY = theirs()
		} else {
			y, errY = theirs()
			x, errX = ours()
		}
		if err := errors.Join(errX, errY); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", figure, err)
		}
		if i > 0 {
			a, z, ratios = append(a, x), append(z, y), append(ratios, x/y)
		}
	}
	slices.Sort(ratios)
	our, their = median(a), median(z)
	fmt.Fprintf(b.out, "| %s | %.0f/s | %s, %.0f/s | %.2f (%.2f to %.2f) | %s |\n",
		figure, our, against, their, median(ratios), ratios[0], ratios[len(ratios)-1], want)
	return our, their, nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
