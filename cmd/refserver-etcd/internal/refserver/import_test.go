package refserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/etcdstore"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// command runs the program until it ends.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver-etcd")
	return process.Run(t, process.Command(t.TempDir(), append([]string{exe}, args...)...))
}

// newMember starts a cluster of one member, which ends with the test, and returns
// its URL.
func newMember(t *testing.T) string {
	t.Helper()
	members := etcd.NewMembers(process.Build(t, etcd.Command), t.TempDir(), 1)
	etcd.Serve(t, members)
	return members[0].URL
}

// file creates a file of refserver with n pets and three messages, the first and
// the last of which were removed from the queue.
func file(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "petstore.db")
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Load(t.Context(), func(yield func(petstore.NewPet) bool) {
		for i := range n {
			p := petstore.NewPet{Name: fmt.Sprint("pet ", i), CategoryID: int64(i) - 5}
			if i%4 > 0 {
				p.Status = petstore.Statuses()[i%4-1]
			}
			if i%100 == 7 {
				p.Name = strings.Repeat("long \x01", 1000)
			}
			if !yield(p) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveMessages(t.Context(), "msg_1", "msg_3"); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImport(t *testing.T) {
	const n = 3000
	url, from := newMember(t), file(t, n)
	run := func(prefix string, wantCode int, want string, args ...string) {
		t.Helper()
		code, stdout, stderr := command(t, append([]string{"import", "-new-store", "-etcd=" + url, "-etcd-prefix=" + prefix}, args...)...)
		if code != wantCode || !strings.Contains(stdout+stderr, want) {
			t.Errorf("import %v: code %d\n%s%s\nwant %d and %q", args, code, stdout, stderr, wantCode, want)
		}
		if code != 0 && strings.Count(stderr, "\n") != 1 {
			t.Errorf("the error is not one line:\n%s", stderr)
		}
	}
	open := func(prefix string) *etcdstore.Store {
		t.Helper()
		s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{url}, Prefix: prefix, NewStore: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	run("a/", 2, "import needs -from")
	run("a/", 1, "no such file", "-from=nothing.db")

	// An interrupted import can be continued.
	s := open("a/")
	if _, err := pets(from, func(p petstore.Pet) error {
		if p.ID > 1234 {
			return nil
		}
		return s.ImportPets(t.Context(), []petstore.Pet{p})
	}); err != nil {
		t.Fatal(err)
	}
	done := fmt.Sprintf("%d pets and 1 queued messages copied and compared", n)
	run("a/", 0, "the cluster already holds 1234 of 3000 pets", "-from="+from)
	run("a/", 0, done, "-from="+from)
	run("a/", 0, "Idempotency keys are not copied", "-from="+from)
	messages, err := s.QueuedMessages(t.Context(), 10)
	if err != nil || len(messages) != 1 || messages[0].ID != "msg_2" || messages[0].Text != "second" {
		t.Errorf("the queue: %+v, %v", messages, err)
	}
	if m, err := s.SubmitMessage(t.Context(), "next", petstore.Once{}); err != nil || m.ID != "msg_4" {
		t.Errorf("the next message: %+v, %v", m, err)
	}

	run("a/", 1, "the cluster holds other messages than the file: see msg_4", "-from="+from)
	if err := s.RemoveMessages(t.Context(), "msg_2", "msg_4"); err != nil {
		t.Fatal(err)
	}
	run("a/", 1, "the cluster holds other messages than the file: see msg_2", "-from="+from)

	// An import adds nothing to a cluster that holds other pets.
	other := open("b/")
	if _, err := other.CreatePet(t.Context(), petstore.NewPet{Name: "another"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	run("b/", 1, "the cluster holds other pets than the file", "-from="+from)
	if stats, err := other.Stats(t.Context()); err != nil || stats.Pets != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	// A cluster to which pets were added after the import is no longer a copy.
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "later"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	run("a/", 1, "3001, and the file has 3000", "-from="+from)

	// An import adds nothing to a cluster that holds other messages, even if it
	// holds no pets.
	for prefix, queued := range map[string]bool{"queued/": true, "removed/": false} {
		other := open(prefix)
		for range 2 {
			if _, err := other.SubmitMessage(t.Context(), "another", petstore.Once{}); err != nil {
				t.Fatal(err)
			}
		}
		if !queued {
			if err := other.RemoveMessages(t.Context(), "msg_1", "msg_2"); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			run(prefix, 1, "the cluster holds other messages than the file: see msg_2", "-from="+from)
		}
		if stats, err := other.Stats(t.Context()); err != nil || stats.Pets != 0 {
			t.Errorf("%+v, %v", stats, err)
		}
	}
}

// A server that cannot start says why in one line.
func TestStartErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"-etcd=127.0.0.1:2379", 1, "-etcd: opening the store in etcd: endpoint \"127.0.0.1:2379\": must be a URL"},
		{"-etcd=http://127.0.0.1:1", 1, "no member of the cluster can be used: http://127.0.0.1:1: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"-etcd=http://127.0.0.1:1,https://127.0.0.1:1", 1, "all must be http or all https"},
		{"-etcd-cert=x", 2, "-etcd-cert and -etcd-key: must be given together"},
		{"-etcd-ca=x", 2, "-etcd-ca and -etcd-cert need https"},
		{"-etcd=https://127.0.0.1:1 -etcd-ca=/nowhere", 1, "-etcd-ca: open /nowhere"},
		{"-etcd=https://127.0.0.1:1 -etcd-ca=" + empty, 1, "holds no certificate"},
		{"-etcd-user=anna", 2, "must be name:password"},
		{"-etcd-password-file=x", 2, "needs -etcd-user"},
		{"-etcd-user=anna -etcd-password-file=/nowhere", 1, "-etcd-password-file: open /nowhere"},
		{"-etcd-user=anna -etcd-password-file=" + empty, 1, "must contain the password"},
	} {
		code, _, stderr := command(t, append(strings.Fields(tt.args), "-addr=127.0.0.1:0")...)
		if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %q; want %d and one line with %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
}
