package storage_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// TestFewAddresses opens a store in a process that has few addresses, as under
// ulimit -v. So little of the file is mapped ahead that more has to be mapped as
// it grows, while pets are read.
func TestFewAddresses(t *testing.T) {
	if path := os.Getenv("STORAGE_TEST_ADDRESSES"); path != "" {
		growInFewAddresses(t, path)
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestFewAddresses$")
	cmd.Env = append(os.Environ(), "STORAGE_TEST_ADDRESSES="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func growInFewAddresses(t *testing.T, path string) {
	limitAddresses(t, 4<<30)
	s := open(t, path)
	createPets(t, s, 1, 1)
	stop, ended := make(chan bool), make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				ended <- nil
				return
			case <-time.After(time.Millisecond):
			}
			_, err = s.GetPet(t.Context(), 1)
		}
		ended <- err
	}()
	const pets = 140 // the first mapping is of 128 MiB
	name := strings.Repeat("x", 1<<20)
	if n, err := s.Load(t.Context(), slices.Values(slices.Repeat([]petstore.NewPet{{Name: name}}, pets))); n != pets || err != nil {
		t.Fatalf("loaded %d of %d pets: %v", n, pets, err)
	}
	close(stop)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a read does not return")
	}
	if pet, err := s.GetPet(t.Context(), pets+1); err != nil || pet.Name != name {
		t.Errorf("the last pet has %d bytes (%v)", len(pet.Name), err)
	}
}

// limitAddresses leaves the process n bytes of addresses that it does not use yet.
func limitAddresses(t *testing.T, n uint64) {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var used uint64 // in pages
	if _, err := fmt.Sscan(string(statm), &used); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = used*uint64(os.Getpagesize()) + n
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
}
