// Cluster starts a petstore cluster on this machine to try: three members of
// etcd and a reference server, each in a process of its own. It reports when one
// of them dies. Ctrl-C ends everything and removes the data.
//
//	go run -C cmd/refserver-etcd ./cluster
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

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: cluster\n\nStarts three members of etcd and a petstore server on this machine, for trying them out.")
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run runs the cluster until ctx is done. It starts dead members again when the
// user presses Enter. It returns an error if the server ends before ctx is done.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "petstore-cluster-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(out, "building etcd and the server; the first time compiles these packages, for some minutes:")
	build := exec.CommandContext(ctx, "go", "build", "-v", "-o", dir+string(filepath.Separator),
		"example.com/animalstore/cmd/refserver-etcd", etcd.Command)
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	members := etcd.NewMembers(filepath.Join(dir, "etcd"), dir, 3)
	died := make(chan *etcd.Member)
	start := func(m *etcd.Member) error {
		if err := m.Start(); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s runs as process %d\n", m.Name, m.Pid())
		ended := m.Ended
		go func() {
			<-ended
			died <- m
		}()
		return nil
	}
	for _, m := range members {
		defer func() { m.Kill() }()
		if err := start(m); err != nil {
			return err
		}
	}
	server, err := serve(dir, members, out)
	defer server.Kill()
	if err != nil {
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
		case <-ctx.Done(): // Ctrl-C reaches the other processes too
			fmt.Fprintln(out, "stopping")
			_ = server.Signal(syscall.SIGTERM) // it may have ended
			_, err := server.Wait()
			return err
		case <-server.Ended:
			if ctx.Err() == nil {
				code, _ := server.Wait()
				log := strings.TrimSpace(server.Stderr.String())
				return fmt.Errorf("the server ended with exit code %d (-1: by a signal); the last line of its log is:\n%s", code, log[strings.LastIndex(log, "\n")+1:])
			}
		case m := <-died:
			if ctx.Err() == nil {
				fmt.Fprintf(out, "%s, process %d, has died. Two are enough; with only one, requests get 503. Press Enter here to start it again.\n", m.Name, m.Pid())
			}
		case <-enter:
			for _, m := range members {
				if !m.Running() {
					if err := start(m); err != nil {
						fmt.Fprintln(out, err)
					}
				}
			}
		}
	}
}

// serve starts a server and prints how to use it.
func serve(dir string, members []*etcd.Member, out io.Writer) (*process.Process, error) {
	cmd := process.Command(dir, filepath.Join(dir, "refserver-etcd"),
		"-addr=127.0.0.1:0", "-new-store", "-etcd="+strings.Join(etcd.URLs(members), ","))
	server, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	addrs, err := server.Serving()
	if err != nil {
		return server, err
	}
	key, err := server.Key()
	fmt.Fprintf(out, `
The server's URL is %[1]s. Add a pet, kill a member, and read the pet:

    KEY=%[2]s
    curl -s --oauth2-bearer $KEY --json '{"name":"Rex","categoryId":4}' %[1]s/pets
    kill -9 %[3]d
    curl -s --oauth2-bearer $KEY %[1]s/pets/1

Ctrl-C ends everything and removes the data.
`, addrs.URL, key, members[0].Pid())
	return server, err
}
