package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// A new user starts the cluster, kills a member by its process ID, starts it
// again as the program says, and stops. Pets can be added all the time.
func TestTrial(t *testing.T) {
	in, enter := io.Pipe()
	var out process.Output
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, in, &out) }()
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("the program ended: %v\n%s", err, &out)
			default:
			}
			if time.Now().After(end) {
				t.Fatalf("waiting for %s:\n%s", what, &out)
			}
		}
	}
	printed := func(form string) (found string) {
		t.Helper()
		wait(form, func() bool {
			m := regexp.MustCompile(form).FindStringSubmatch(out.String())
			if m != nil {
				found = m[1]
			}
			return m != nil
		})
		return found
	}
	server := process.Server{Client: http.DefaultClient}
	server.URL, server.Key = printed(`The server's URL is (\S+)\. `), printed(`KEY=(\S+)`)
	add := func() {
		t.Helper()
		wait("a creation", func() bool { // the members may need long to elect a leader
			r, err := server.Send("POST", "/pets", `{"name":"Rex","categoryId":4}`)
			if err != nil || r.Status != http.StatusCreated && r.Status != http.StatusServiceUnavailable {
				t.Fatalf("POST: %d %s (%v)\n%s", r.Status, r.Body, err, &out)
			}
			return r.Status == http.StatusCreated
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
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}
