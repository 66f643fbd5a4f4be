package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// size measures how many bytes of a member's file and memory a pet takes, and how
// many an idempotency key takes as long as it is kept.
func (b *bench) size() error {
	diskBefore, memoryBefore, err := b.member()
	if err != nil {
		return err
	}
	s, err := b.open("size/")
	if err != nil {
		return err
	}
	defer s.Close()
	if err := b.fill(s, b.pets, pet); err != nil {
		return err
	}
	disk, memory, err := b.member()
	if err != nil {
		return err
	}
	n := float64(b.pets)
	diskEach, memoryEach := float64(disk-diskBefore)/n, float64(memory-memoryBefore)/n
	fmt.Fprintf(b.out, "| bytes of a member's file a pet | %.0f | | | |\n", diskEach)
	fmt.Fprintf(b.out, "| bytes of a member's memory a pet | %.0f | | | |\n", memoryEach)

	keys, err := b.createWithKeys(s, b.pets/5)
	if err != nil {
		return err
	}
	diskAfter, memoryAfter, err := b.member()
	if err != nil {
		return err
	}
	n = float64(keys)
	fmt.Fprintf(b.out, "| bytes of a member's file an idempotency key | %.0f | | | |\n", float64(diskAfter-disk)/n-diskEach)
	fmt.Fprintf(b.out, "| bytes of a member's memory an idempotency key | %.0f | | | |\n", float64(memoryAfter-memory)/n-memoryEach)
	return nil
}

// createWithKeys creates about n pets, each with its own idempotency key, and
// returns how many it created.
func (b *bench) createWithKeys(s *etcdstore.Store, n int64) (int64, error) {
	errs := make(chan error, clients)
	each := n / clients
	for c := range clients {
		go func() {
			var err error
			for i := int64(0); i < each && err == nil; i++ {
				_, err = s.CreatePet(b.ctx, pet(i).NewPet, petstore.Once{Key: fmt.Sprint(c, "-", i)})
			}
			errs <- err
		}()
	}
	var failed error
	for range clients {
		failed = errors.Join(failed, <-errs)
	}
	return each * clients, failed
}

// member compacts and defragments, and restarts a member, so that the memory that
// it needed for its work does not count. It returns the bytes in use in its file,
// and those of its memory without the mapped file.
func (b *bench) member() (disk, memory int64, err error) {
	if err := b.pushOut(); err != nil {
		return 0, 0, err
	}
	resp, err := b.client.Get(b.ctx, "revision", clientv3.WithCountOnly())
	if err != nil {
		return 0, 0, err
	}
	if _, err := b.client.Compact(b.ctx, resp.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		return 0, 0, err
	}
	for _, m := range b.cluster.Members {
		if _, err := b.client.Defragment(b.ctx, m.URL()); err != nil {
			return 0, 0, err
		}
	}
	m := b.cluster.Members[2]
	if err := errors.Join(m.Stop(), b.cluster.Restart(m)); err != nil {
		return 0, 0, err
	}
	for m.Healthy(b.ctx) != nil && b.ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	status, err := m.Status(b.ctx)
	if err != nil {
		return 0, 0, err
	}
	memory, err = anonymous(m.Pid())
	return status.DbSizeInUse, memory, err
}

// pushOut fills the part of the log that members keep in memory, at most 15,000
// entries, with small entries.
func (b *bench) pushOut() error {
	errs := make(chan error, clients)
	for range clients {
		go func() {
			var err error
			for i := 0; i < 15_000/clients+1 && err == nil; i++ {
				_, err = b.client.Put(b.ctx, "log", "x")
			}
			errs <- err
		}()
	}
	var failed error
	for range clients {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}

// anonymous returns the bytes of a process's memory without mapped files. etcd
// maps its file, and the system can take these pages back at any time.
func anonymous(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("the system does not show the memory of process %d", pid)
}
