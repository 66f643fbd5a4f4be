package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// A new user starts the trial with one PostgreSQL, adds a pet as it says, and stops it.
func TestTrial(t *testing.T) {
	postgres.Need(t)
	t.Chdir("..") // as the documentation says
	var out process.Output
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, 1, strings.NewReader(""), &out) }()
	var found []string
	process.Eventually(t, "the command to try", func() error {
		if found = regexp.MustCompile(`(?s)KEY=(\S+).* (http\S+)/pets\n`).FindStringSubmatch(out.String()); found == nil {
			return errors.New(out.String())
		}
		return nil
	})
	server := process.Server{Client: http.DefaultClient, Key: found[1]}
	server.URL = found[2]
	r, err := server.Send("POST", "/pets", `{"name":"Rex","categoryId":4}`)
	if err != nil || r.Status != http.StatusCreated {
		t.Errorf("%d %s (%v)", r.Status, r.Body, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := run(ctx, 2, nil, &out); err == nil {
		t.Error("-nodes 2 was accepted")
	}
}
