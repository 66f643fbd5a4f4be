package postgres

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Each list reads only its rows, by an index, also of a large table.
func TestPlans(t *testing.T) {
	s, url := newStore(t)
	execute(t, url, `INSERT INTO petstore.pets (id, status, pet)
		SELECT i, CASE WHEN i % 1000 = 0 THEN 'sold' WHEN i % 2 = 0 THEN 'available' END, '{}' FROM generate_series(1, 200000) AS i`,
		"ANALYZE petstore.pets")
	s.use(t, func(conn *pgx.Conn) { // has the settings that decide about plans
		for i, tt := range []struct{ name, query, args, index string }{
			{"list", listAll, "(0, 21)", "pets_pkey"},
			{"list of a rare status", listStatus, "(0, 21, 'sold')", "pets_status_id"},
			{"pet", getPet, "(100000)", "pets_pkey"},
			{"state", selectState, "", "commits_pkey"},
		} {
			if _, err := conn.Exec(t.Context(), fmt.Sprintf("PREPARE plan%d AS %s", i, tt.query)); err != nil {
				t.Fatal(err)
			}
			rows, _ := conn.Query(t.Context(), fmt.Sprintf("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) EXECUTE plan%d %s", i, tt.args), pgx.QueryExecModeSimpleProtocol)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string]) // the error of Query too
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(lines, "\n")
			if !strings.Contains(plan, tt.index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Removed by Filter") {
				t.Errorf("%s: the plan is\n%s\nwant %s without a filter", tt.name, plan, tt.index)
			}
		}
	})
}

// A create that is repeated within 24 hours returns the first pet, and a later one creates
// another. An outcome that is renewed while it expires stays.
func TestExpire(t *testing.T) {
	s, url := newStore(t)
	for _, key := range []string{"old", "renewed", "new"} {
		s.mustCreate(t, key, petstore.IdempotencyKey{Key: key})
	}
	digest := func(key string) []byte {
		d := rules.Digest(rules.CreatePet, petstore.IdempotencyKey{Key: key})
		return d[:]
	}
	exec := session(t, url)
	exec("UPDATE petstore.outcomes SET made = made - CASE digest WHEN $1 THEN interval '23 hours 59 minutes' ELSE interval '24 hours 1 second' END", digest("new"))
	exec("INSERT INTO petstore.outcomes SELECT i::text::bytea, '', 1, 0, now() - interval '25 hours' FROM generate_series(1, 5001) AS i")
	exec("UPDATE petstore.commits SET made = made - CASE number WHEN 2 THEN interval '9 minutes' ELSE interval '1 hour' END")
	exec("BEGIN")
	exec("UPDATE petstore.outcomes SET made = now() WHERE digest = $1", digest("renewed"))
	expired := make(chan error)
	go func() { expired <- s.expire(t.Context()) }()
	untilWaiting(t, url, "Lock")
	exec("COMMIT")
	if err := <-expired; err != nil {
		t.Fatal(err)
	}
	var outcomes, commits int
	if err := connect(t, url).QueryRow(t.Context(), "SELECT (SELECT count(*) FROM petstore.outcomes), (SELECT count(*) FROM petstore.commits)").Scan(&outcomes, &commits); err != nil {
		t.Fatal(err)
	}
	if outcomes != 2 || commits != 2 {
		t.Errorf("%d outcomes and %d commits are left, want 2, and the newest commit and a recent one", outcomes, commits)
	}
	for key, want := range map[string]int64{"new": 3, "renewed": 2, "old": 4} {
		if pet := s.mustCreate(t, key, petstore.IdempotencyKey{Key: key}); pet.ID != want {
			t.Errorf("%s: pet %d, want %d", key, pet.ID, want)
		}
	}
	exec("UPDATE petstore.outcomes SET made = made - interval '2 minutes' WHERE digest = $1", digest("new"))
	for range 2 {
		if pet := s.mustCreate(t, "another", petstore.IdempotencyKey{Key: "new"}); pet.ID != 5 {
			t.Errorf("a key that has expired, and is not deleted: pet %d, want 5 each time", pet.ID)
		}
	}
}

// An export notices that the row of a pet is missing.
func TestDamage(t *testing.T) {
	s, url := newStore(t)
	s.mustCreate(t, "Rex", petstore.IdempotencyKey{})
	execute(t, url, "DELETE FROM petstore.pets")
	if err := s.Export(t.Context(), io.Discard); petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), "there are 0 pets and 0 messages, want 1 and 0") {
		t.Errorf("without the row of a pet, the export returned %v", err)
	}
}

// Open says in one line why a database cannot be used.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	newer, role := newDatabase(t), newDatabase(t)
	_ = open(t, newer, nil).Close()
	execute(t, newer, "UPDATE petstore.store SET version = 99")
	execute(t, role, "CREATE ROLE stranger LOGIN")
	latin1 := newDatabase(t, "ENCODING 'LATIN1'", "TEMPLATE template0")
	for _, tt := range []struct{ name, url, want string }{
		{"not a URL", "postgres://u:s3cret@h:port", "cannot parse the URL or the settings: invalid port"},
		{"not settings", "host=h port=x password = 's3cret of'", "cannot parse the URL or the settings: "},
		{"version", newer, "the tables have the version 99; this program knows only version "},
		{"encoding", latin1, "the encoding of the database is LATIN1, must be UTF8"},
		{"role without rights", strings.Replace(role, "//postgres@", "//stranger@", 1), "creating the tables: ERROR: permission denied"},
		{"unknown database", strings.Replace(role, "/test", "/none", 1), `does not exist`},
		{"nobody listens", "postgres://127.0.0.1:1/x?sslmode=disable", "connection refused"},
		{"read-only", role + "&default_transaction_read_only=on", "it is read-only"},
	} {
		s, err := Open(t.Context(), tt.url, &Options{timeout: 2 * time.Second})
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	execute(t, latin1, "CREATE SCHEMA petstore") // which fails if Open has created it
}

// A role with the grants of docs/postgres.md can do everything but create the tables. Its
// client_encoding does not matter.
func TestRole(t *testing.T) {
	url := newDatabase(t)
	owner := open(t, url, nil)
	execute(t, url, "CREATE ROLE petstore LOGIN", "ALTER ROLE petstore SET client_encoding = LATIN1", "GRANT USAGE ON SCHEMA petstore TO petstore",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstore TO petstore")
	s := open(t, strings.Replace(url, "//postgres@", "//petstore@", 1), nil)
	s.mustCreate(t, "Zoë", petstore.IdempotencyKey{Key: "k"})
	wantPets(t, s, "Zoë")
	wantPets(t, owner, "Zoë")
	if err := s.expire(t.Context()); err != nil {
		t.Error(err)
	}
}

// A full disk refuses changes with CodeInsufficientStorage. Reads go on, and changes too once there
// is room.
func TestDiskFull(t *testing.T) {
	s, url := newStore(t)
	s.mustCreate(t, "before", petstore.IdempotencyKey{})
	execute(t, url, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$`,
		"CREATE TRIGGER full_disk BEFORE INSERT ON petstore.pets EXECUTE FUNCTION fail()")
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); petstore.CodeOf(err) != petstore.CodeInsufficientStorage {
		t.Errorf("without room: %v", err)
	}
	wantPets(t, s, "before")
	execute(t, url, "DROP TRIGGER full_disk ON petstore.pets")
	if p := s.mustCreate(t, "after", petstore.IdempotencyKey{}); p.ID != 2 {
		t.Errorf("with room again: %+v, want the ID 2", p)
	}
}
