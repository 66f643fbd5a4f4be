// Benchmark measures petstore servers that run as processes of their own:
//
//	go run ./internal/benchmark
//
// Most figures compare a server with another one in turn: with a bare server
// of net/http and bbolt, with another release, or with itself in another
// state. What runs in process is measured by go test -bench instead. See
// docs/performance.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"example.com/animalstore/internal/version"
)

type figure struct {
	name, about string
	run         func(*bench) error
}

var figures = []figure{
	{"get", "GET of a pet, compared with bare net/http", reads("/pets/500")},
	{"list-20", "GET of 20 pets, compared with bare net/http", reads("/pets")},
	{"list-100", "GET of 100 pets, compared with bare net/http", reads("/pets?limit=100")},
	{"list-100-sold", "GET of 100 pets by status, compared with bare net/http", reads("/pets?limit=100&status=sold")},
	{"create-1", "POST of pets by 1 client, compared with bare net/http and a bbolt Update", creates(1, "Update")},
	{"create-64", "POST of pets by 64 clients, compared with bare net/http and a bbolt Batch", creates(64, "Batch")},
	{"mixed", "GET of random pets by 32 clients while 32 others create, compared with reads alone", mixed},
	{"large-get", "GET of random pets among -pets, compared with 1,000", large("/pets/%[1]d")},
	{"large-list", "GET of 20 pets from a random place among -pets, compared with 1,000", large("/pets?cursor=%[2]s")},
	{"large-status", "GET of 20 pets by status among -pets, compared with 1,000", large("/pets?status=sold&cursor=%[2]s")},
	{"memory", "memory of a server with -pets pets after a load", memory},
	{"open", "storage.Open of a file with -pets pets", opening},
}

// bench is a run of the program.
type bench struct {
	ctx      context.Context
	out      io.Writer
	dir      string   // temporary
	servers  []string // paths of refservers
	pairs    int
	duration time.Duration
	pets     int64     // in the large file
	running  []*server // stopped after each figure
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == bareCommand {
		fmt.Fprintln(os.Stderr, "bare:", runBare(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	b := &bench{ctx: ctx, out: stdout}
	fs := flag.NewFlagSet("benchmark", flag.ExitOnError)
	names := ""
	for _, f := range figures {
		names += fmt.Sprintf("\n%-14s %s", f.name, f.about)
	}
	selected := fs.String("run", "", "measure the figures whose names match the `regexp`:"+names)
	fs.Func("server", "refserver `binary` to measure instead of one built from this module; if repeated, the figures\n"+
		"up to create-64 compare the first with each other one, and the rest measure the first", func(path string) error {
		path, err := filepath.Abs(path)
		b.servers = append(b.servers, path)
		return err
	})
	fs.IntVar(&b.pairs, "pairs", 15, "`number` of pairs; one more is measured first and does not count")
	fs.DurationVar(&b.duration, "duration", 2*time.Second, "`duration` of each half of a pair")
	fs.Int64Var(&b.pets, "pets", 10_000_000, "`number` of pets in the large file, which takes about 250 bytes each in $TMPDIR")
	_ = fs.Parse(args) // which exits
	pattern, err := regexp.Compile(*selected)
	switch {
	case err != nil:
		return fmt.Errorf("-run: %w", err)
	case !slices.ContainsFunc(figures, func(f figure) bool { return pattern.MatchString(f.name) }):
		return fmt.Errorf("-run: must match the name of a figure (-h lists them), got %q", *selected)
	case b.pairs < 1:
		return fmt.Errorf("-pairs: must be at least 1, got %d", b.pairs)
	case b.duration <= 0:
		return fmt.Errorf("-duration: must be positive, got %v", b.duration)
	case b.pets <= smallPets:
		return fmt.Errorf("-pets: must be more than %d, got %d", smallPets, b.pets)
	case fs.NArg() > 0:
		return fmt.Errorf("arguments: must be flags, got %q", fs.Args())
	}
	if b.dir, err = os.MkdirTemp("", "benchmark-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.servers == nil {
		b.servers = []string{filepath.Join(b.dir, "refserver")}
		out, err := exec.CommandContext(ctx, "go", "build", "-o", b.servers[0], "example.com/animalstore/cmd/refserver").CombinedOutput()
		if err != nil {
			return fmt.Errorf("building cmd/refserver: %w\n%s", err, out)
		}
	}
	fmt.Fprintf(b.out, "%s %s/%s, %d CPUs, %d pairs of %v; median [quartiles]; NaN: cannot be measured on this system\n",
		version.String(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.pairs, b.duration)
	for _, f := range figures {
		if !pattern.MatchString(f.name) {
			continue
		}
		fmt.Fprintf(b.out, "\n%s: %s\n", f.name, f.about)
		err := f.run(b)
		b.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}
