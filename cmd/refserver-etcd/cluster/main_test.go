package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// A new user starts the cluster, kills a member by its process ID, starts it
// again as the program says, and stops. Pets can be added all the time.
func TestTrial(t *testing.T) {
	process.Build(t, etcd.Command) // the program does so too, and the first time takes minutes
	in, enter := io.Pipe()
	var out process.Output
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { fmt.Fprintln(&out, "the program ended:", run(ctx, in, &out)) }()
	printed := func(form string) (found string) {
		t.Helper()
		etcd.Eventually(t, "it is printed", func() error {
			m := regexp.MustCompile(form).FindStringSubmatch(out.String())
			if m == nil {
				return fmt.Errorf("want %s in\n%s", form, &out)
			}
			found = m[1]
			return nil
		})
		return found
	}
	server := process.Server{Client: http.DefaultClient}
	server.URL, server.Key = printed(`The server's URL is (\S+)\. `), printed(`KEY=(\S+)`)
	add := func() {
		t.Helper()
		etcd.Eventually(t, "a creation", func() error { // the members may need long to elect a leader
			r, err := server.Send("POST", "/pets", `{"name":"Rex","categoryId":4}`)
			if err != nil || r.Status != http.StatusCreated && r.Status != http.StatusServiceUnavailable {
				t.Fatalf("POST: %d %s (%v)\n%s", r.Status, r.Body, err, &out)
			}
			if r.Status != http.StatusCreated {
				return errors.New(r.Body)
			}
			return nil
		})
	}
	add()
	var pid int
	_, _ = fmt.Sscan(printed(`member1 runs as process (\d+)`), &pid)
	member, err := os.FindProcess(pid)
	if err == nil {
		err = member.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	printed(`member1, process \d+, has died\. .* (Press Enter)`)
	add()
	if _, err := io.WriteString(enter, "\n"); err != nil {
		t.Fatal(err)
	}
	printed(`(?s)member1, process \d+, has died.*(member1 runs as process)`)
	add()
	stop()
	printed(`the program ended: (<nil>)`)
	t.Log(out.String())
}
