//go:build linux

package faulttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// busy is a client that keeps its connection and creates pets, until the
// server is gone.
type busy struct {
	answers map[string]int64 // ids, by Idempotency-Key
	unsure  []string         // sent, and not answered: to be repeated
	cut     int              // answers that began and did not end
	told    int              // connections that the server said it would close
}

func (c *busy) run(s *server, name string) {
	for n := 0; ; {
		conn, err := net.Dial("tcp", s.host)
		if err != nil {
			return
		}
		br := bufio.NewReader(conn)
		for stay := true; stay; n++ {
			once := fmt.Sprintf("%s-%d", name, n)
			body := petBody(once)
			_, err := fmt.Fprintf(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
				"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", s.key, once, len(body), body)
			if err == nil {
				_, err = br.Peek(1)
			}
			if err != nil {
				c.unsure = append(c.unsure, once)
				break
			}
			var p petstore.Pet
			resp, err := http.ReadResponse(br, nil)
			if err == nil {
				var b []byte
				if b, err = io.ReadAll(resp.Body); err == nil && resp.StatusCode == http.StatusCreated {
					err = json.Unmarshal(b, &p)
				}
			}
			if err != nil {
				c.cut++
				c.unsure = append(c.unsure, once)
				break
			}
			if resp.StatusCode == http.StatusCreated {
				c.answers[once] = p.ID
			}
			if stay = !resp.Close; !stay {
				c.told++
			}
		}
		conn.Close()
	}
}

// TestDrain stops the server in good order while many clients are busy.
func TestDrain(t *testing.T) {
	rounds, random := times(t, 1, 20)
	dir := t.TempDir()
	s := start(t, dir)
	answered, repeated, told := 0, 0, 0
	last := int64(0)
	for round := range rounds {
		clients := make([]*busy, writers)
		var wg sync.WaitGroup
		for i := range clients {
			clients[i] = &busy{answers: map[string]int64{}}
			wg.Go(func() { clients[i].run(s, fmt.Sprintf("d%d-%d", round, i)) })
		}
		time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
		_ = s.Signal(syscall.SIGTERM)
		if code := s.wait(); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, s.Stderr.String())
		}
		wg.Wait()
		s = start(t, dir)
		ids := map[int64]string{}
		for _, c := range clients {
			if c.cut > 0 {
				t.Errorf("round %d: %d answers were cut short", round, c.cut)
			}
			told += c.told
			for once, id := range c.answers {
				if other, ok := ids[id]; ok || id <= last {
					t.Errorf("round %d: %q has the id %d, as has %q, or one before it", round, once, id, other)
				}
				ids[id] = once
				answered++
			}
		}
		// What was accepted was answered: there is nothing on disk beyond it.
		stored := s.vars().Store.Pets
		if stored != last+int64(len(ids)) {
			t.Errorf("round %d: %d pets were answered and %d are on disk", round, len(ids), stored-last)
		}
		for _, c := range clients {
			for _, once := range c.unsure {
				s.must(http.StatusCreated, "POST", "/pets", petBody(once), "Idempotency-Key", once)
				s.must(http.StatusCreated, "POST", "/pets", petBody(once), "Idempotency-Key", once)
				repeated++
			}
		}
		last = s.vars().Store.Pets
		if want := stored + int64(repeated); round == 0 && last != want {
			t.Errorf("%d pets on disk after the repetitions, want %d", last, want)
		}
	}
	s.stop()
	t.Logf("%d stops: %d creations answered, %d refused by the closing address and repeated, %d connections closed with notice", rounds, answered, repeated, told)
}

// TestBackupUnderLoad takes backups while many write, and holds each against
// what was acknowledged before it was asked for.
func TestBackupUnderLoad(t *testing.T) {
	rounds, _ := times(t, 2, 30)
	dir := t.TempDir()
	s := start(t, dir)
	var mu sync.Mutex
	acknowledged := map[int64]string{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
	for i := range writers {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("b%d-%d", i, n)
				a, err := s.send(client, "POST", "/pets", petBody(name))
				var p petstore.Pet
				if err != nil || json.Unmarshal([]byte(a.body), &p) != nil || a.status != http.StatusCreated {
					t.Errorf("%s: %d, %v", name, a.status, err)
					return
				}
				mu.Lock()
				acknowledged[p.ID] = name
				mu.Unlock()
			}
		})
	}
	sizes := []int{}
	for round := range rounds {
		time.Sleep(100 * time.Millisecond)
		mu.Lock()
		want := make(map[int64]string, len(acknowledged))
		for id, name := range acknowledged {
			want[id] = name
		}
		mu.Unlock()
		path := fmt.Sprintf("%s/copy-%d.db", dir, round)
		if out, err := command(t, "backup", "-admin-addr="+s.admin, path); err != nil {
			t.Fatalf("backup: %v\n%s", err, out)
		}
		if out, err := command(t, "check", path); err != nil {
			t.Errorf("check: %v\n%s", err, out)
		}
		out, err := command(t, "export", path)
		if err != nil {
			t.Errorf("export: %v", err)
		}
		n := 0
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); n++ {
			var p petstore.Pet
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			if name, ok := want[p.ID]; ok && name != p.Name {
				t.Errorf("the pet %d is %q, and was acknowledged as %q", p.ID, p.Name, name)
			}
			delete(want, p.ID)
		}
		if len(want) > 0 {
			t.Errorf("round %d: %d acknowledged pets are not in the backup", round, len(want))
		}
		sizes = append(sizes, n)
	}
	close(stop)
	wg.Wait()
	// The last one serves in the store's place.
	s.stop()
	if out, err := command(t, "backup", "-admin-addr="+s.admin, dir+"/never.db"); err == nil {
		t.Errorf("a backup of no server: %s", out)
	}
	restore(t, s, fmt.Sprintf("%s/copy-%d.db", dir, rounds-1))
	s = start(t, dir)
	if got := s.vars().Store.Pets; got != int64(sizes[rounds-1]) {
		t.Errorf("the restored store holds %d pets, and the backup %d", got, sizes[rounds-1])
	}
	s.must(http.StatusCreated, "POST", "/pets", petBody("after"))
	s.stop()
	t.Logf("%d backups under load, of %d to %d pets", rounds, sizes[0], sizes[rounds-1])
}

// A client that stops reading its backup is disconnected, which frees the disk
// space and lets others make a backup. A slow client gets the whole backup.
func TestStoppedBackup(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	s.stop()
	store, err := storage.Open(s.db(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pet := petstore.NewPet{Name: strings.Repeat("x", 1<<20)} // 100 of these overflow every buffer of a connection
	_, err = store.Load(t.Context(), func(yield func(petstore.NewPet) bool) {
		for i := 0; i < 100 && yield(pet); i++ {
		}
	})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	get := func() *http.Response {
		t.Helper()
		resp, err := http.Get("http://" + s.admin + "/backup")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET /backup: %v, %v", resp, err)
		}
		return resp
	}
	stopped := get()
	defer stopped.Body.Close()
	s.until("no deleted file is open", func() bool {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(links, func(link string) bool {
			target, _ := os.Readlink(link)
			return strings.HasSuffix(target, "(deleted)")
		})
	})
	s.until("another backup can be made", func() bool {
		_, err := command(t, "backup", "-overwrite", "-admin-addr="+s.admin, dir+"/copy.db")
		return err == nil
	})
	if n, err := io.Copy(io.Discard, stopped.Body); err == nil {
		t.Errorf("the stopped client received all %d bytes", n)
	}
	slow := get()
	defer slow.Body.Close()
	var n int64
	for err = nil; err == nil; time.Sleep(time.Second) { // longer in all than the stopped client could wait
		var more int64
		more, err = io.CopyN(io.Discard, slow.Body, 8<<20)
		n += more
	}
	if err != io.EOF || n != slow.ContentLength {
		t.Errorf("the slow client received %d of %d bytes: %v", n, slow.ContentLength, err)
	}
	s.stop()
}
