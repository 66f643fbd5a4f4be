package postgres

import (
	"strings"
	"testing"
	"time"

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
		{"version", newer, "the tables have the version 99; this program knows only version "},
		{"a table is missing", lost, `relation "petstore.commits" does not exist`},
		{"role without rights", strings.Replace(role, "//postgres@", "//stranger@", 1), "creating the tables: ERROR: permission denied"},
		{"unknown database", strings.Replace(role, "/test", "/none", 1), `does not exist`},
		{"nobody listens", "postgres://127.0.0.1:1/x?sslmode=disable", "connection refused"},
		{"read-only", role + "&default_transaction_read_only=on", "it is read-only"},
	} {
		s, err := Open(t.Context(), tt.url, &Options{timeout: 2 * time.Second})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A role with the grants of docs/postgres.md can do everything but create the tables.
func TestRole(t *testing.T) {
	url := newDatabase(t)
	_ = open(t, url, nil).Close()
	execute(t, url, "CREATE ROLE petstore LOGIN", "GRANT USAGE ON SCHEMA petstore TO petstore",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstore TO petstore")
	s := open(t, strings.Replace(url, "//postgres@", "//petstore@", 1), nil)
	s.mustCreate(t, "Rex", petstore.IdempotencyKey{Key: "k"})
	wantPets(t, s, "Rex")
	m, err := s.SubmitMessage(t.Context(), "text", petstore.IdempotencyKey{})
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
