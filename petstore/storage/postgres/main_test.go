package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/internal/test/postgrestest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

// shared starts the PostgreSQL that most tests use, each with a database of its own.
var shared = sync.OnceValues(func() (*postgrestest.Server, error) { return postgrestest.New("fsync=off") })

var databases atomic.Int64

// newStore opens a store in a new database until the end of the test.
func newStore(t *testing.T) (s *Store, url string) {
	t.Helper()
	url = newDatabase(t)
	return open(t, url, nil), url
}

// newDatabase returns the URL of a new database.
func newDatabase(t *testing.T, options ...string) string {
	t.Helper()
	postgrestest.Need(t)
	server, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint("test", databases.Add(1))
	execute(t, server.URL, "CREATE DATABASE "+name+" "+strings.Join(options, " "))
	return strings.Replace(server.URL, "/postgres?", "/"+name+"?", 1)
}

// connect connects to a database until the end of the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url) // also in a Cleanup
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// session returns a function that executes a statement on a connection of its own.
func session(t *testing.T, url string) (exec func(sql string, args ...any)) {
	t.Helper()
	conn := connect(t, url)
	return func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// execute executes statements, each in a transaction of its own.
func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	exec := session(t, url)
	for _, sql := range statements {
		exec(sql)
	}
}

// untilWaiting returns when a connection waits for such an event: "Lock", or "SyncRep"
// for a standby. It returns the process ID of its server process.
func untilWaiting(t *testing.T, url, event string) (pid int) {
	t.Helper()
	conn := connect(t, url)
	process.Eventually(t, "a wait for "+event, func() error {
		return conn.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity
			WHERE $1 IN (wait_event_type, wait_event) AND datname = current_database()`, event).Scan(&pid)
	})
	return pid
}

// open opens a store until the end of the test.
func open(t *testing.T, url string, opts *Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// use calls do with the connection that commits.
func (s *Store) use(t *testing.T, do func(*pgx.Conn)) {
	t.Helper()
	conn, err := s.single.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release() // closes it if a transaction has not ended
	do(conn.Conn())
}

func (s *Store) mustCreate(t *testing.T, name string, key petstore.IdempotencyKey) petstore.Pet {
	t.Helper()
	pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name, Status: petstore.StatusSold}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pet
}

// wantPets fails unless the store has the pets with these names, in this order.
func wantPets(t *testing.T, s *Store, names ...string) {
	t.Helper()
	page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: petstore.MaxLimit})
	got := []string{}
	for _, p := range page.Pets {
		got = append(got, p.Name)
	}
	if err != nil || strings.Join(got, ",") != strings.Join(names, ",") {
		t.Fatalf("pets %q (%v), want %q", got, err, names)
	}
}

// Each directory of the suite has a database.
func TestStore(t *testing.T) {
	t.Parallel()
	var urls sync.Map
	storagetest.Run(t, storagetest.Target{
		RealTime: true,
		Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
			u, ok := urls.Load(dir)
			if !ok {
				u = newDatabase(t)
				urls.Store(dir, u)
			}
			s, err := Open(t.Context(), u.(string), &Options{QueueCapacity: o.QueueCapacity})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}
