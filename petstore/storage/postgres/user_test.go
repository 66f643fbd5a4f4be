package postgres

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
)

// Open says in one line why a database cannot be used.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	newer, lost := newDatabase(t, ""), newDatabase(t, "")
	for _, url := range []string{newer, lost} {
		_ = open(t, url, nil).Close()
	}
	execute(t, newer, "UPDATE petstore.store SET version = 99")
	execute(t, lost, "DROP TABLE petstore.commits")
	role := newDatabase(t, "")
	execute(t, role, "CREATE ROLE stranger LOGIN")
	for _, tt := range []struct{ name, url, want string }{
		{"not a URL", "postgres://h:port", "cannot parse"},
		{"encoding", newDatabase(t, "ENCODING SQL_ASCII TEMPLATE template0"), "the database has the encoding SQL_ASCII; must be UTF8"},
		{"version", newer, "the tables have the version 99; this program knows only version 1"},
		{"a table is missing", lost, `relation "petstore.commits" does not exist`},
		{"role without rights", strings.Replace(role, "//postgres@", "//stranger@", 1), "creating the tables: ERROR: permission denied"},
		{"unknown role", strings.Replace(role, "//postgres@", "//nobody@", 1), `role "nobody" does not exist`},
		{"unknown database", strings.Replace(role, "/test", "/none", 1), `does not exist`},
		{"nobody listens", "postgres://127.0.0.1:1/x?sslmode=disable", "connection refused"},
		{"read-only", with(t, role, "default_transaction_read_only", "on"), "it is read-only"},
	} {
		s, err := Open(t.Context(), tt.url, &Options{Timeout: time.Second})
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

// Of several processes that open an empty database at the same time, one creates
// the tables.
func TestFirstStarts(t *testing.T) {
	url := newDatabase(t, "")
	var wg sync.WaitGroup
	created := make(chan bool, 8)
	for range cap(created) {
		wg.Go(func() {
			s, err := Open(t.Context(), url, nil)
			if err != nil {
				t.Error(err)
				return
			}
			created <- s.Created()
			_ = s.Close()
		})
	}
	wg.Wait()
	close(created)
	n := 0
	for c := range created {
		if c {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d have created the tables, want 1", n, cap(created))
	}
}

// grants are what docs/postgres.md says that the role of a server needs.
const grants = `GRANT USAGE ON SCHEMA petstore TO petstore;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstore TO petstore;`

// A role with the documented grants can do everything but create the tables.
func TestRole(t *testing.T) {
	url := newDatabase(t, "")
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
	keys, err := s.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, id, err := keys.Create(t.Context(), "anna", 0); err != nil {
		t.Error(err)
	} else if _, err := keys.Revoke(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// A host that only reads is skipped, wherever it stands in the URL. So is one that
// has been the primary before a failover.
func TestHosts(t *testing.T) {
	t.Parallel()
	reader := postgres.Run(t, "fsync=off", "default_transaction_read_only=on")
	url := newDatabase(t, "")
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

func TestKeys(t *testing.T) {
	t.Parallel()
	server := postgres.Run(t, "fsync=off")
	var servers []*Keys
	for range 2 {
		keys, err := open(t, server.URL, nil).Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, keys)
	}
	key, id, err := servers[0].Create(t.Context(), "anna", 0)
	if err != nil {
		t.Fatal(err)
	}
	short, _, err := servers[0].Create(t.Context(), "bert", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	// within fails unless every server gives that result for a key soon.
	within := func(key, account string, want error) {
		t.Helper()
		start := time.Now()
		for _, keys := range servers {
			process.Eventually(t, "the change of a key", func() error {
				got, err := keys.Authenticate(t.Context(), key)
				if got != account || !errors.Is(err, want) {
					return errors.New("account " + got)
				}
				return nil
			})
		}
		t.Logf("%q after %v", account, time.Since(start))
	}
	if account, err := servers[0].Authenticate(t.Context(), key); account != "anna" {
		t.Errorf("just created: %q, %v", account, err)
	}
	within(key, "anna", nil)
	within(short, "", errExpiredKey)
	within("petstore_unknown", "", errUnknownKey)
	for _, account := range []string{"", "a b"} {
		if _, _, err := servers[0].Create(t.Context(), account, 0); petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("account %q: %v", account, err)
		}
	}
	execute(t, server.URL, "UPDATE petstore.keys SET created = created - interval '1 hour' WHERE account = 'bert'")
	all, err := servers[1].List(t.Context())
	if err != nil || len(all) != 2 || all[0].Account != "bert" || all[0].Expires.Sub(all[0].Created) != time.Hour+time.Second ||
		all[1].ID != id || !all[1].Expires.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	if k, err := servers[1].Revoke(t.Context(), id); err != nil || k.Account != "anna" {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := servers[1].Revoke(t.Context(), id); !errors.Is(err, apikey.ErrNoKey) {
		t.Errorf("revoked again: %v", err)
	}
	within(key, "", errUnknownKey)

	// Without the database no key can be checked, not even a wrong one.
	server.Kill()
	within(key, "", errKeys)
	within(short, "", errKeys)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	within(key, "", errUnknownKey)
}
