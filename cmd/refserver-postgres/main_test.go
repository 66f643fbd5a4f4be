package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/postgrestest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// command returns the program with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver-postgres")
	return process.Command(t.TempDir(), append([]string{exe}, args...)...)
}

// run runs a command of the program, which must end with that code, and returns what it
// has written to standard output. The error is one line that contains want; otherwise the
// output contains it.
func run(t *testing.T, code int, want, stdin string, args ...string) string {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	got, stdout, stderr := process.Run(t, cmd)
	if got != code || !strings.Contains(stdout+stderr, want) || code != 0 && strings.Count(stderr, "\n") != 1 {
		t.Fatalf("%q: code %d\n%s%s\nwant %d and %q", args, got, stdout, stderr, code, want)
	}
	return stdout
}

// A balancer that sends the requests to two servers in turn is conformant.
func TestConformance(t *testing.T) {
	db := postgrestest.Run(t, "fsync=off")
	dir := t.TempDir()
	var servers []*process.Server
	for range 2 {
		cmd := command(t, "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0", "-postgres="+db.URL)
		cmd.Dir = dir // so both have the same key file, which the first makes
		servers = append(servers, process.Serve(t, cmd))
	}
	var next atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		s := servers[int(next.Add(1))%len(servers)]
		r.SetURL(&url.URL{Scheme: "http", Host: s.Host()})
		r.Out.Host = r.In.Host
	}})
	defer balancer.Close()
	target := conformance.Target{URL: balancer.URL + "/v1", MessagesURL: balancer.URL + "/v1", Key: servers[0].Key}
	conformancetest.Run(t, target, &conformance.Options{Timeout: process.Patience}) // the machine may be busy

	// Without the database a server says so, and it serves again when it is back.
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/pets", "/pets/1", "http://" + servers[0].Host() + "/readyz"} {
		servers[0].Must(http.StatusServiceUnavailable, "GET", target, "")
	}
	if err := db.Start(); err != nil {
		t.Fatal(err)
	}
	process.Eventually(t, "a response", func() error {
		r, err := servers[0].Send("GET", "/pets/1", "")
		if err == nil && r.Status != http.StatusOK {
			err = errors.New(r.Body)
		}
		return err
	})
	for _, s := range servers {
		s.Stop()
	}
}

// A command that fails says why in one line.
func TestCommands(t *testing.T) {
	db := "-postgres=" + postgrestest.Run(t, "fsync=off").URL
	pet := `{"id":1,"name":"Rex","categoryId":4}` + "\n"
	all := pet + `{"end":{"pets":1,"messages":0,"lastMessage":3}}` + "\n"
	backups := t.TempDir()
	process.WriteFile(t, backups+"/petstore-20200102T030405.000Z.jsonl.gz", nil)
	run(t, 1, "the database postgres has no store; check that it is the right one. If the store is lost, import the newest backup: refserver-postgres import -postgres URL FILE. No new store", "",
		"-addr=127.0.0.1:0", "-backup-dir="+backups, db)
	run(t, 1, "has no store", "", "-must-exist", "-addr=127.0.0.1:0", db)
	run(t, 1, "has no store", "", "export", db)
	run(t, 1, "/postgres (-postgres): nothing was imported: the export is damaged or malformed: line 2", pet+"x", "import", db, "-")
	run(t, 0, "/postgres; pets: 1; messages: 0", all, "import", db, "-")
	run(t, 1, "(-postgres): nothing was imported: the store has had pets up to ID 1 and 3 messages; it must never have had any: use a new database", all, "import", db, "-")
	run(t, 1, "-postgres is not set, so the PG* variables", "", "-addr=127.0.0.1:0")
}

// All pets, messages and outcomes of idempotency keys, with their IDs, move from a file to
// PostgreSQL and back. Some IDs are left out.
func TestMove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	gaps := `{"id":7,"name":"a","categoryId":1}` + "\n" + `{"id":17,"name":"b","categoryId":1}` + "\n" + `{"end":{"pets":2,"lastPet":20}}`
	_, err := storage.Import(t.Context(), path, strings.NewReader(gaps))
	if err != nil {
		t.Fatal(err)
	}
	file, err := storage.Open(path, nil)
	for i := 0; i < 203 && err == nil; i++ {
		_, err = file.CreatePet(t.Context(), petstore.NewPet{
			Name: strings.Repeat("<name\x00é", i%3), CategoryID: int64(i) << 32, Status: append(petstore.Statuses(), "")[i%4],
		}, petstore.IdempotencyKey{Key: strings.Repeat(fmt.Sprint("pet", i), i%2)})
	}
	for _, text := range []string{"first", "hi\x00", "third"} {
		if err == nil {
			_, err = file.SubmitMessage(t.Context(), text, petstore.IdempotencyKey{Key: text})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.RemoveMessages(t.Context(), "msg_1"), file.Close()); err != nil {
		t.Fatal(err)
	}
	exported := func(path string) string {
		var b strings.Builder
		if err := storage.Export(path, &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want, db := exported(path), "-postgres="+postgrestest.Run(t, "fsync=off").URL
	run(t, 0, "pets: 205; messages: 2; outcomes of idempotency keys: 104", want, "import", db, "-")
	there := run(t, 0, "", "", "export", db)
	back := filepath.Join(t.TempDir(), "back.db")
	if _, err := storage.Import(t.Context(), back, strings.NewReader(there)); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"PostgreSQL": there, "the file after it": exported(back)} {
		if got != want {
			t.Errorf("the export of %s: %s", name, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
	}
}
