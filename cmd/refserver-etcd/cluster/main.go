// Cluster starts a petstore cluster on this machine to try: three members of
// etcd and three reference servers, each in a process of its own. It prints
// their addresses. Ctrl-C ends everything and removes the data.
//
//	go run -C cmd/refserver-etcd/cluster .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

func main() {
	local.Role()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("cluster", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var o local.Options
	fs.IntVar(&o.Members, "members", 3, "`number` of members")
	fs.IntVar(&o.Servers, "servers", 3, "`number` of reference servers")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if fs.NArg() > 0 || o.Members < 1 || o.Servers < 1 {
		return errors.New("takes only flags, and needs at least one member and one server")
	}
	var err error
	if o.Dir, err = os.MkdirTemp("", "petstore-cluster-*"); err != nil {
		return err
	}
	defer os.RemoveAll(o.Dir)
	fmt.Fprintln(stdout, "starting ...")
	c, err := local.Start(ctx, o)
	if err != nil {
		return err
	}
	defer c.Kill()
	if err := show(ctx, stdout, c); err != nil {
		return err
	}
	<-ctx.Done()
	fmt.Fprintln(stdout, "stopping ...")
	return c.Stop()
}

// show prints what a new user needs to know.
func show(ctx context.Context, w io.Writer, c *local.Cluster) error {
	leader, err := c.Leader(ctx)
	if err != nil {
		return err
	}
	for _, m := range c.Members {
		role := ""
		if m == leader {
			role = "  leader"
		}
		fmt.Fprintf(w, "%s  etcd %s  process %d%s\n", m.Name(), m.URL(), m.Pid(), role)
	}
	for i, s := range c.Servers {
		fmt.Fprintf(w, "server%d  %s  process %d\n", i+1, s.URL(), s.Pid())
	}
	last := c.Servers[len(c.Servers)-1]
	_, err = fmt.Fprintf(w, `
Add a pet at one server, kill the leader, and read the pet at another:

    KEY=%s
    curl -s --oauth2-bearer $KEY --json '{"name":"Rex","categoryId":4}' %s/pets
    kill -9 %d
    curl -s --oauth2-bearer $KEY %s/pets/1

Ctrl-C ends everything.
`, c.Key, c.Servers[0].URL(), leader.Pid(), last.URL())
	return err
}
