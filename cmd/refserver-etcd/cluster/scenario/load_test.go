package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

// writers is how many clients create pets at the same time.
const writers = 16

// load is a number of writers, which use all servers in turn. Half of them repeat
// a creation with its Idempotency-Key until it is acknowledged. The others go on
// with the next pet.
type load struct {
	cluster *local.Cluster
	prefix  string // of the names
	stop    chan struct{}
	wg      sync.WaitGroup

	mu       sync.Mutex
	ids      map[string]int64 // of acknowledged pets, by name
	unknown  map[string]bool  // names of pets that were not acknowledged, and may be stored once
	times    []time.Time      // of acknowledgements
	refusals map[string]int   // how often a creation failed, by error
}

// loads counts loads, so that each uses other names.
var loads atomic.Int64

func startLoad(c *local.Cluster) *load {
	l := &load{cluster: c, prefix: fmt.Sprintf("load%d-", loads.Add(1)), stop: make(chan struct{}), ids: map[string]int64{}, unknown: map[string]bool{}, refusals: map[string]int{}}
	for w := range writers {
		l.wg.Go(func() { l.write(w) })
	}
	return l
}

// addresses matches what differs in errors with the same cause.
var addresses = regexp.MustCompile(`127\.0\.0\.1:\d+(->127\.0\.0\.1:\d+)?`)

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *load) write(w int) {
	server := w
	for n := 0; !l.stopped(); n++ {
		name := fmt.Sprintf("%s%d-%d", l.prefix, w, n)
		once := ""
		if w%2 == 0 {
			once = name
		}
		for {
			s := l.cluster.Servers[server%len(l.cluster.Servers)]
			id, err := create(s.URL(), l.cluster.Key, name, once)
			l.note(name, id, err)
			if err == nil {
				break
			}
			server++ // this one may be down
			time.Sleep(10 * time.Millisecond)
			if once == "" || l.stopped() {
				break
			}
		}
	}
}

func (l *load) note(name string, id int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.unknown[name] = true
		l.refusals[addresses.ReplaceAllString(err.Error(), "")]++
		return
	}
	delete(l.unknown, name)
	l.ids[name] = id
	l.times = append(l.times, time.Now())
}

// acknowledged returns how many pets were acknowledged.
func (l *load) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ids)
}

// highest returns the highest acknowledged id.
func (l *load) highest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	highest := int64(0)
	for _, id := range l.ids {
		highest = max(highest, id)
	}
	return highest
}

// progress waits until more pets are acknowledged.
func (l *load) progress(t *testing.T) {
	t.Helper()
	before := l.acknowledged()
	eventually(t, "acknowledgements", func() error {
		if n := l.acknowledged(); n < before+writers {
			return fmt.Errorf("%d pets acknowledged, %d before", n, before)
		}
		return nil
	})
}

// stall returns the longest time without an acknowledgement that overlaps the
// time between from and to.
func (l *load) stall(from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := time.Duration(0)
	for i := 1; i < len(l.times); i++ {
		if a, b := l.times[i-1], l.times[i]; b.After(from) && a.Before(to) {
			longest = max(longest, b.Sub(a))
		}
	}
	return longest
}

// finish stops the writers and compares what is stored with what was
// acknowledged.
func (l *load) finish(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	l.check(t)
}

// check lists all pets through every server. Ids must be dense, no name may be
// stored twice, each acknowledged pet must be stored under its id, and nothing may
// be stored that no writer sent.
func (l *load) check(t *testing.T) {
	t.Helper()
	t.Logf("%d acknowledged, %d with an unknown outcome", len(l.ids), len(l.unknown))
	for why, n := range l.refusals {
		t.Logf("%d times: %s", n, why)
	}
	for _, s := range l.cluster.Servers {
		if !s.Running() {
			continue
		}
		all, err := list(s.URL(), l.cluster.Key, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		byStatus, err := list(s.URL(), l.cluster.Key, "sold", 0)
		if err != nil {
			t.Fatal(err)
		}
		sold := map[int64]bool{}
		for _, p := range byStatus {
			sold[p.ID] = true
		}
		names := map[string]int64{}
		if t.Failed() {
			return // another server would report the same again
		}
		for i, p := range all {
			if p.ID != int64(i)+1 {
				t.Fatalf("the %d-th pet has the id %d", i+1, p.ID)
			}
			if !strings.HasPrefix(p.Name, l.prefix) {
				continue // of another load
			}
			if _, twice := names[p.Name]; twice {
				t.Errorf("%s is stored twice", p.Name)
			}
			names[p.Name] = p.ID
			if id, ok := l.ids[p.Name]; ok && id != p.ID || !ok && !l.unknown[p.Name] {
				t.Errorf("%s is stored as %d, and was acknowledged as %d", p.Name, p.ID, id)
			}
			if !sold[p.ID] {
				t.Errorf("%s is not in the list of its status", p.Name)
			}
		}
		for name := range l.ids {
			if _, ok := names[name]; !ok {
				t.Errorf("%s was acknowledged and is missing", name)
			}
		}
	}
}

// middle returns the median and the longest duration.
func middle(d []time.Duration) (median, worst time.Duration) {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2].Round(time.Millisecond), d[len(d)-1].Round(time.Millisecond)
}
