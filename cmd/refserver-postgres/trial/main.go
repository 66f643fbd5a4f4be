// Trial runs PostgreSQL and servers in front of it on this machine until it gets
// SIGINT, and says how to use them. Run it in the folder of its module:
//
//	go run ./trial              one PostgreSQL, one server
//	go run ./trial -nodes 3     a Patroni cluster of three nodes, two servers
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
)

func main() {
	nodes := flag.Int("nodes", 1, "`number` of PostgreSQL servers: 1, or 3 or more for a Patroni cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *nodes, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(1)
	}
}

// run runs everything until ctx ends. It keeps the data in a temporary folder, which
// it removes.
func run(ctx context.Context, nodes int, in io.Reader, out io.Writer) error {
	if nodes != 1 && nodes < 3 {
		return fmt.Errorf("-nodes: must be 1, or at least 3, got %d", nodes)
	}
	dir, err := os.MkdirTemp("", "petstore-trial-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the user postgres must reach it
		return err
	}
	fmt.Fprintln(out, "building the server")
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "example.com/animalstore/cmd/refserver-postgres")
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	if nodes == 1 {
		return runOne(ctx, dir, out)
	}
	return runCluster(ctx, dir, nodes, in, out)
}

func runOne(ctx context.Context, dir string, out io.Writer) error {
	fmt.Fprintln(out, "starting PostgreSQL")
	db, err := postgres.New(filepath.Join(dir, "postgres"))
	if err == nil {
		err = db.Start()
	}
	if err != nil {
		return err
	}
	defer db.Kill()
	s, err := serve(dir, db.URL, out)
	if err != nil {
		return err
	}
	defer s.Kill()
	fmt.Fprintf(out, "\nThe tables are in the schema petstore of %s. Ctrl-C ends everything and removes the data.\n", db.URL)
	select {
	case <-ctx.Done():
		return nil
	case <-db.Ended:
		return endedError(ctx, "PostgreSQL", db.Process)
	case <-s.Ended:
		return endedError(ctx, "the server", s)
	}
}

// endedError returns the error that a process has ended, unless ctx has, too: Ctrl-C
// ends all processes.
func endedError(ctx context.Context, name string, p *process.Process) error {
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s has ended:\n%s", name, p.Tail())
}

// runCluster also starts nodes again that were killed, when the user presses Enter.
func runCluster(ctx context.Context, dir string, nodes int, in io.Reader, out io.Writer) error {
	fmt.Fprintln(out, "starting PostgreSQL, Patroni and etcd; this takes about 20 seconds")
	c, err := postgres.NewCluster(filepath.Join(dir, "cluster"), nodes, filepath.Join("..", "..", "deploy", "patroni.yml"))
	if err != nil {
		return err
	}
	defer c.Close()
	ended := make(chan *process.Process)
	for range 2 {
		s, err := serve(dir, c.URL(), out)
		if err != nil {
			return err
		}
		defer s.Kill()
		go func() {
			<-s.Ended
			ended <- s
		}()
	}
	fmt.Fprint(out, `
Both servers have the same pets and keys. Within half a minute after the primary was killed, another
node is the primary; until then every request gets 503. No pet is lost. Press Enter here to start
killed nodes again. Ctrl-C ends everything and removes the data.
`)
	if err := showPrimary(c, out); err != nil {
		return err
	}
	enter := make(chan struct{})
	go func() {
		for s := bufio.NewScanner(in); s.Scan(); {
			enter <- struct{}{}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-ended:
			return endedError(ctx, "a server", s)
		case <-enter:
			for _, n := range c.Nodes {
				if n.Running() {
					continue
				}
				if err := n.Start(); err != nil {
					return err
				}
				fmt.Fprintln(out, n.Name, "starts again, as a standby")
			}
			if err := showPrimary(c, out); err != nil {
				fmt.Fprintln(out, "there is no primary now:", err)
			}
		}
	}
}

// showPrimary prints how to kill the primary.
func showPrimary(c *postgres.Cluster, out io.Writer) error {
	primary, err := c.Node(postgres.Leader)
	if err != nil {
		return err
	}
	pid, err := primary.Postmaster()
	if err == nil {
		fmt.Fprintf(out, "\nThe primary is %s. To kill its Patroni and PostgreSQL:\n\n    kill -9 %d %d\n\n", primary.Name, primary.Pid(), pid)
	}
	return err
}

// serve starts a server and prints how to use it.
func serve(dir, url string, out io.Writer) (*process.Process, error) {
	s, err := process.Start(process.Command(dir, filepath.Join(dir, "refserver-postgres"), "-addr=127.0.0.1:0", "-postgres="+url))
	if err != nil {
		return nil, err
	}
	addrs, err := s.Serving()
	if err != nil {
		s.Kill()
		return nil, err
	}
	if strings.Contains(s.Stderr.String(), " store=new ") {
		key, err := s.Key()
		if err != nil {
			s.Kill()
			return nil, err
		}
		fmt.Fprintf(out, "\nTry it in another terminal:\n\n    KEY=%s\n", key)
	}
	fmt.Fprintf(out, "    curl -s --oauth2-bearer $KEY --json '{\"name\":\"Rex\",\"categoryId\":4}' %s/pets\n", addrs.URL)
	return s, nil
}
