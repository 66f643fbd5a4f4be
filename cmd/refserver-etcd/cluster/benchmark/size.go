package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// size measures what an animal costs a member: bytes on its disk and in its
// memory, after a compaction.
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
	if err := b.fill(s, b.animals); err != nil {
		return err
	}
	disk, memory, err := b.member()
	if err != nil {
		return err
	}
	n := float64(b.animals)
	fmt.Fprintf(b.out, "| bytes of a member's file an animal | %.0f | | | |\n", float64(disk-diskBefore)/n)
	fmt.Fprintf(b.out, "| bytes of a member's memory an animal | %.0f | | | |\n", float64(memory-memoryBefore)/n)
	return nil
}

// member compacts and defragments, and returns the bytes that a follower's
// file has in use, and those of its memory that are its own.
func (b *bench) member() (disk, memory int64, err error) {
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
	m := b.cluster.Members[0]
	status, err := m.Status(b.ctx)
	if err != nil {
		return 0, 0, err
	}
	memory, err = anonymous(m.Pid())
	return status.DbSizeInUse, memory, err
}

// anonymous returns the bytes of a process's memory that are no file's: the
// engine maps its file, which counts as memory too, but which the system takes
// back when it needs the room.
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
	return 0, fmt.Errorf("the system does not tell the memory of process %d", pid)
}
