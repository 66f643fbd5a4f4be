package postgres

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
	"example.com/animalstore/petstore/storage"
)

// Each list reads only its rows, by an index, also of a large table.
func TestPlans(t *testing.T) {
	url := newDatabase(t)
	s := open(t, url, nil)
	execute(t, url, `INSERT INTO petstore.pets (id, name, category_id, status)
		SELECT i, 'pet', i, CASE WHEN i % 1000 = 0 THEN 'sold' WHEN i % 2 = 0 THEN 'available' END FROM generate_series(1, 200000) AS i`,
		"ANALYZE petstore.pets")
	s.use(t, func(conn *pgx.Conn) { // has the settings that decide about plans
		for i, tt := range []struct{ name, query, args, index string }{
			{"first page", listAll, "(0, 21)", "pets_pkey"},
			{"last page", listAll, "(199950, 101)", "pets_pkey"},
			{"rare status", listStatus, "(0, 21, 'sold')", "pets_status_id"},
			{"common status", listStatus, "(100000, 21, 'available')", "pets_status_id"},
			{"status without pets", listStatus, "(0, 101, 'pending')", "pets_status_id"},
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

// An outcome that is renewed while it expires stays.
func TestExpire(t *testing.T) {
	url := newDatabase(t)
	s := open(t, url, nil)
	for _, key := range []string{"old", "renewed", "new"} {
		s.mustCreate(t, key, petstore.IdempotencyKey{Key: key})
	}
	digest := func(key string) []byte {
		d := stores.Digest(stores.CreatePet, petstore.IdempotencyKey{Key: key})
		return d[:]
	}
	exec := session(t, url)
	exec("UPDATE petstore.outcomes SET made = made - interval '24 hours 1 second' WHERE digest <> $1", digest("new"))
	exec("INSERT INTO petstore.outcomes SELECT i::text::bytea, '', 1, now() - interval '25 hours' FROM generate_series(1, 5001) AS i")
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
}

// Rows that were removed behind the store's back are errors, never other results.
func TestDamage(t *testing.T) {
	url := newDatabase(t)
	s := open(t, url, nil)
	for i := range 5 {
		s.mustCreate(t, fmt.Sprint(i), petstore.IdempotencyKey{})
	}
	execute(t, url, "DELETE FROM petstore.pets WHERE id = 3")
	_, get := s.GetPet(t.Context(), 3)
	_, list := s.ListPets(t.Context(), petstore.ListQuery{})
	for what, err := range map[string]error{"GetPet": get, "ListPets": list} {
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), "there is no row of the pet 3") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.GetPet(t.Context(), 6); !errors.Is(err, petstore.ErrNotFound) {
		t.Errorf("GetPet(6): %v", err)
	}
	// A pet that was created after the get did not find it is not missing.
	if err := missing(t.Context(), connect(t, url), 1); !errors.Is(err, petstore.ErrNotFound) {
		t.Errorf("missing(1): %v", err)
	}
	execute(t, url, "UPDATE petstore.store SET version = 99")
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); petstore.CodeOf(err) != petstore.CodeInternal {
		t.Errorf("a create in tables of a newer version: %v", err)
	}
	execute(t, url, "DELETE FROM petstore.pets WHERE id = 5", "DELETE FROM petstore.store")
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); petstore.CodeOf(err) != petstore.CodeInternal {
		t.Errorf("a create without the row to lock: %v", err)
	}
	execute(t, url, "DELETE FROM petstore.commits")
	if _, err := s.Stats(t.Context()); petstore.CodeOf(err) != petstore.CodeInternal {
		t.Errorf("without the state: %v", err)
	}
}

// An import has the pets, messages and IDs of the file, or adds nothing.
func TestImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	file, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []petstore.Pet
	for i := 0; i < 2*importRows+3 && err == nil; i++ {
		pet := petstore.NewPet{Name: strings.Repeat("name\x00", i%3), CategoryID: int64(i), Status: append(petstore.Statuses(), "")[i%4]}
		var p petstore.Pet
		p, err = file.CreatePet(t.Context(), pet, petstore.IdempotencyKey{})
		want = append(want, p)
	}
	for _, text := range []string{"first", "hi\x00", "third"} {
		if err == nil {
			_, err = file.SubmitMessage(t.Context(), text, petstore.IdempotencyKey{})
		}
	}
	messages, _ := file.QueuedMessages(t.Context(), 10)
	var exported strings.Builder
	if err := errors.Join(err, file.RemoveMessages(t.Context(), "msg_1"), file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Export(path, &exported, nil); err != nil {
		t.Fatal(err)
	}
	export := exported.String()
	for _, tt := range []struct{ name, export, want string }{
		{"cut short", export[:strings.LastIndex(strings.TrimSpace(export), "\n")+1], "its last line is missing"},
		{"a pet is missing", strings.Replace(export, `{"id":2,`, `{"id":3,`, 1), "line 2: the IDs cannot be kept: the pet has the ID 3, want 2"},
		{"a message twice", strings.Replace(export, `"msg_3"`, `"msg_2"`, 1), `the message has the ID "msg_2" and follows number 2`},
		{"not JSON", "x" + export, "line 1"},
	} {
		s := open(t, newDatabase(t), nil)
		if _, err := s.Import(t.Context(), strings.NewReader(tt.export), 0); err == nil || !strings.Contains(err.Error(), "nothing was imported: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if stats, err := s.Stats(t.Context()); err != nil || stats != (petstore.Stats{}) {
			t.Errorf("%s: %+v, %v", tt.name, stats, err)
		}
		s.mustCreate(t, "first", petstore.IdempotencyKey{})
	}
	s := open(t, newDatabase(t), nil)
	if got, err := s.Import(t.Context(), strings.NewReader(export), 0); err != nil || got != (storage.Totals{Pets: int64(len(want)), Messages: 2}) {
		t.Fatal(got, err)
	}
	for _, want := range want {
		if pet, err := s.GetPet(t.Context(), want.ID); pet != want {
			t.Errorf("%+v (%v), want %+v", pet, err, want)
		}
	}
	if queue, err := s.QueuedMessages(t.Context(), 10); err != nil || !slices.Equal(queue, messages[1:]) {
		t.Errorf("%+v (%v), want %+v", queue, err, messages[1:])
	}
	if m, err := s.SubmitMessage(t.Context(), "next", petstore.IdempotencyKey{}); err != nil || m.ID != "msg_4" {
		t.Errorf("the next message is %+v (%v), want msg_4", m, err)
	}
	if _, err := s.Import(t.Context(), strings.NewReader(export), 0); err == nil || !strings.Contains(err.Error(), "must be empty") {
		t.Errorf("again: %v", err)
	}
}
