// Cluster starts a petstore cluster on this machine to try: three members of
// etcd and a reference server, each in a process of its own. It reports when one
// of them dies. Ctrl-C ends everything and removes the data.
//
//	go run -C cmd/refserver-etcd ./cluster
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "petstore-cluster-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(ctx, dir, out); err != nil {
		return err
	}
	c := &cluster{members: etcd.NewMembers(filepath.Join(dir, "etcd"), dir, 3), died: make(chan *etcd.Member), out: out}
	for _, m := range c.members {
		defer m.Kill()
		if err := c.start(m); err != nil {
			return err
		}
	}
	server, err := c.serve(dir)
	defer server.Kill()
	if err != nil {
		return err
	}
	if err := c.watch(ctx, in, server); err != nil {
		return err
	}
	fmt.Fprintln(out, "stopping")
	if server.Signal(syscall.SIGTERM) == nil {
		_, err = server.Wait()
	}
	return err
}

// build builds etcd and the server in dir, and shows the progress.
func build(ctx context.Context, dir string, out io.Writer) error {
	fmt.Fprintln(out, "building etcd and the server; the first time takes some minutes")
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-o", dir+string(filepath.Separator),
		"example.com/animalstore/cmd/refserver-etcd", etcd.Command)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	printed := make(chan string) // packages as they are compiled, and errors
	go func() {
		defer close(printed)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			printed <- s.Text()
		}
	}()
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	var lines []string
	for more := true; more; {
		select {
		case line, ok := <-printed:
			if more = ok; ok {
				lines = append(lines, line)
			}
		case <-ticker.C:
			fmt.Fprintf(out, "%d packages compiled\n", len(lines))
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return nil
}

type cluster struct {
	members []*etcd.Member
	died    chan *etcd.Member
	out     io.Writer
}

// start starts a member, which must not be running.
func (c *cluster) start(m *etcd.Member) error {
	if err := m.Start(); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s runs as process %d\n", m.Name, m.Pid())
	ended := m.Ended
	go func() {
		<-ended
		c.died <- m
	}()
	return nil
}

// serve starts a server and prints how to use it.
func (c *cluster) serve(dir string) (*process.Process, error) {
	cmd := process.Command(dir, filepath.Join(dir, "refserver-etcd"),
		"-addr=127.0.0.1:0", "-etcd="+strings.Join(etcd.URLs(c.members), ","))
	cmd.Env = append(cmd.Env, "PETSTORE_NEW_STORE=true")
	server, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	addrs, err := server.Serving()
	if err != nil {
		return server, err
	}
	key, err := server.Key()
	fmt.Fprintf(c.out, `
The server's URL is %[1]s. Add a pet, kill a member, and read the pet:

    KEY=%[2]s
    curl -s --oauth2-bearer $KEY --json '{"name":"Rex","categoryId":4}' %[1]s/pets
    kill -9 %[3]d
    curl -s --oauth2-bearer $KEY %[1]s/pets/1

Ctrl-C ends everything and removes the data.
`, addrs.URL, key, c.members[0].Pid())
	return server, err
}

// watch reports when a member dies, and starts it again when the user presses
// Enter, until ctx is done. It returns an error if the server ends before that.
func (c *cluster) watch(ctx context.Context, in io.Reader, server *process.Process) error {
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
		case <-server.Ended:
			if ctx.Err() != nil {
				return nil // Ctrl-C reaches the server too
			}
			return fmt.Errorf("the server has ended:\n%s", server.Tail())
		case m := <-c.died:
			if ctx.Err() != nil {
				return nil
			}
			effect := "The others go on."
			if slices.IndexFunc(c.members, func(o *etcd.Member) bool { return o != m && !o.Running() }) >= 0 {
				effect = "Without two of three, requests get 503."
			}
			fmt.Fprintf(c.out, "%s, process %d, has died. %s Press Enter here to start it again.\n", m.Name, m.Pid(), effect)
		case <-enter:
			for _, m := range c.members {
				if m.Running() {
					continue
				}
				if err := c.start(m); err != nil {
					fmt.Fprintln(c.out, err)
				}
			}
		}
	}
}
