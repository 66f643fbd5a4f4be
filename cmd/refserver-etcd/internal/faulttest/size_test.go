//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// BenchmarkSize reports how many bytes of a member's file and memory a pet takes,
// and how many an Idempotency-Key takes as long as it is kept.
func BenchmarkSize(b *testing.B) {
	c := newCluster(b, 0, quota)
	for b.Loop() {
		empty := memberSize(b, c)
		s := open(b, c, "size/", largePets, 4)
		pets := memberSize(b, c)
		const keys = largePets / 5
		parallel(b, creators, func(caller int) (err error) {
			for id := caller; id < keys && err == nil; id += creators {
				_, err = s.CreatePet(b.Context(), newPet(int64(id), 4).NewPet, petstore.Once{Key: fmt.Sprint(id)})
			}
			return err
		})
		all := memberSize(b, c)
		for i, where := range []string{"file", "memory"} {
			pet := (pets[i] - empty[i]) / largePets
			b.ReportMetric(pet, where+"-B/pet")
			b.ReportMetric((all[i]-pets[i])/keys-pet, where+"-B/key")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// memberSize compacts and defragments, and restarts a member, so that the memory
// that it needed for its work does not count. It returns the bytes in use in its
// file, and those of its memory without the mapped file, whose pages the system
// can take back at any time.
func memberSize(b *testing.B, c *cluster) [2]float64 {
	b.Helper()
	// Members keep the newest part of the log in memory, at most 15,000 entries.
	parallel(b, creators, func(int) (err error) {
		for i := 0; i < 15_000/creators+1 && err == nil; i++ {
			_, err = c.client.Put(b.Context(), "log", "x")
		}
		return err
	})
	resp, err := c.client.Get(b.Context(), "log")
	if err == nil {
		_, err = c.client.Compact(b.Context(), resp.Header.Revision, clientv3.WithCompactPhysical())
	}
	for _, m := range c.members {
		if err == nil {
			_, err = c.client.Defragment(b.Context(), m.URL)
		}
	}
	m := c.members[2]
	c.renew(b, m)
	status, e := c.client.Status(b.Context(), m.URL)
	proc, e2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.Pid()))
	if err := errors.Join(err, e, e2); err != nil {
		b.Fatal(err)
	}
	var kB float64
	_, rest, _ := strings.Cut(string(proc), "RssAnon:")
	if _, err := fmt.Sscan(rest, &kB); err != nil {
		b.Fatal(err)
	}
	return [2]float64{float64(status.DbSizeInUse), kB * 1024}
}
