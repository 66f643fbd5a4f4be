package postgres

import (
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/petstore"
)

// Open says in one line why a database cannot be used.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	newer, lost := newDatabase(t), newDatabase(t)
	for _, url := range []string{newer, lost} {
		_ = open(t, url, nil).Close()
	}
	execute(t, newer, "UPDATE petstore.store SET version = 99")
	execute(t, lost, "DROP TABLE petstore.commits")
	role := newDatabase(t)
	execute(t, role, "CREATE ROLE stranger LOGIN")
	for _, tt := range []struct{ name, url, want string }{
		{"not a URL", "postgres://h:port", "cannot parse"},
		{"version", newer, "the tables have the version 99; this program knows only version 1"},
		{"a table is missing", lost, `relation "petstore.commits" does not exist`},
		{"role without rights", strings.Replace(role, "//postgres@", "//stranger@", 1), "creating the tables: ERROR: permission denied"},
		{"unknown role", strings.Replace(role, "//postgres@", "//nobody@", 1), `role "nobody" does not exist`},
		{"unknown database", strings.Replace(role, "/test", "/none", 1), `does not exist`},
		{"nobody listens", "postgres://127.0.0.1:1/x?sslmode=disable", "connection refused"},
		{"read-only", with(t, role, "default_transaction_read_only", "on"), "it is read-only"},
	} {
		s, err := Open(t.Context(), tt.url, &Options{Timeout: 2 * time.Second})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Open(t.Context(), role, &Options{Timeout: time.Hour}); err == nil {
		t.Error("a time limit of an hour was accepted")
	}
}

// grants are what docs/postgres.md says that the role of a server needs.
const grants = `GRANT USAGE ON SCHEMA petstore TO petstore;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstore TO petstore;`

// A role with the documented grants can do everything but create the tables.
func TestRole(t *testing.T) {
	url := newDatabase(t)
	_ = open(t, url, nil).Close()
	execute(t, url, "CREATE ROLE petstore LOGIN", grants)
	s := open(t, strings.Replace(url, "//postgres@", "//petstore@", 1), nil)
	s.mustCreate(t, "Rex", petstore.Once{Key: "k"})
	wantPets(t, s, "Rex")
	m, err := s.SubmitMessage(t.Context(), "text", petstore.Once{})
	if err == nil {
		err = s.RemoveMessages(t.Context(), m.ID)
	}
	if err == nil {
		err = s.expire(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

// A host that only reads is skipped, wherever it stands in the URL. So is one that
// has been the primary before a failover.
func TestHosts(t *testing.T) {
	t.Parallel()
	reader := postgres.Run(t, "fsync=off", "default_transaction_read_only=on")
	url := newDatabase(t)
	execute(t, with(t, reader.URL, "default_transaction_read_only", "off"), "CREATE DATABASE "+url[strings.LastIndex(url, "/")+1:strings.Index(url, "?")])
	s := open(t, strings.Replace(url, "@", "@"+strings.TrimPrefix(reader.URL[:strings.LastIndex(reader.URL, "/")], "postgres://postgres@")+",", 1), &Options{Timeout: time.Second})
	s.mustCreate(t, "Rex", petstore.Once{})

	timeline := s.timeline.Load()
	s.timeline.Store(timeline + 1) // as if another host had said so
	for what, err := range map[string]error{
		"Stats":     func() error { _, err := s.Stats(t.Context()); return err }(),
		"CreatePet": func() error { _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); return err }(),
	} {
		if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.Contains(err.Error(), errOldPrimary.Error()) {
			t.Errorf("%s of the old primary: %v", what, err)
		}
	}
	s.timeline.Store(timeline)
	wantPets(t, s, "Rex")
}
