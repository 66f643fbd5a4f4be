package etcdstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// While the cluster is silent, every call ends by its timeout, with an error that
// names the endpoint, or when the store is closed. When the cluster is back, calls
// succeed. When it is back in an earlier state, the store fails.
func TestSilence(t *testing.T) {
	m := newMembers(t.TempDir(), 1)[0]
	etcd.Serve(t, []*etcd.Member{m})
	s := open(t, etcdstore.Config{Endpoints: []string{m.URL}, RequestTimeout: 4 * time.Second})
	patient := open(t, etcdstore.Config{Endpoints: []string{m.URL}, RequestTimeout: time.Hour})
	create(t, patient, petstore.NewPet{}, "") // the machine may be busy
	fails := func(text string) {
		t.Helper()
		etcd.Eventually(t, "an error names the member", func() error {
			if err := s.Ready(t.Context()); !strings.Contains(fmt.Sprint(err), m.URL+text) {
				return fmt.Errorf("the error is %v, want %s%s", err, m.URL, text)
			}
			return nil
		})
	}
	if err := m.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	fails(": no response within ") // the member stops a little after the signal
	ended := make(chan error)
	go func() {
		_, err := patient.GetPet(t.Context(), 1)
		ended <- err
	}()
	var wg sync.WaitGroup
	for name, call := range map[string]func() error{
		"get":    func() error { _, err := s.GetPet(t.Context(), 1); return err },
		"list":   func() error { _, err := s.ListPets(t.Context(), petstore.ListQuery{}); return err },
		"create": func() error { _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); return err },
		"submit": func() error { _, err := s.SubmitMessage(t.Context(), "", petstore.Once{}); return err },
		"remove": func() error { return s.RemoveMessages(t.Context(), "msg_1") },
		"queue":  func() error { _, err := s.QueuedMessages(t.Context(), 1); return err },
		"stats":  func() error { _, err := s.Stats(t.Context()); return err },
		"ready":  func() error { return s.Ready(t.Context()) },
	} {
		wg.Go(func() {
			if err := call(); petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	if err := patient.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("the read ended with %v", err)
	}
	if err := m.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	etcd.Eventually(t, "the store recovers", func() error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		return err
	})
	m.Kill()
	m.Dir = t.TempDir()
	etcd.Serve(t, []*etcd.Member{m})
	fails(": the cluster went back from revision ")
}

// No creation fails while the leader hands over to other members, as before an
// upgrade.
func TestMovedLeader(t *testing.T) {
	members := newMembers(t.TempDir(), 3)
	etcd.Serve(t, members)
	urls := etcd.URLs(members)
	s := open(t, etcdstore.Config{Endpoints: urls, RequestTimeout: process.Patience})
	var created atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for ctx.Err() == nil {
				create(t, s, petstore.NewPet{}, "")
				created.Add(1)
			}
		})
	}
	client := clientOf(t, urls...)
	for i := range 16 {
		before := created.Load()
		etcd.Eventually(t, "the leader moves", func() error {
			list, err := client.MemberList(t.Context())
			if err == nil {
				// The client asks another member each time, and only the leader accepts this.
				_, err = client.MoveLeader(t.Context(), list.Members[i%3].ID)
			}
			return err
		})
		etcd.Eventually(t, "there are further pets", func() error {
			if created.Load() < before+50 {
				return errors.New("too few pets")
			}
			return nil
		})
	}
	stop()
	writers.Wait()
}
