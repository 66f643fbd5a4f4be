//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// rates has n clients send requests for that time, and until at least one has
// succeeded. It returns the successes in a second, and in a second of the server's
// processor time, which other processes do not affect.
func (l *load) rates(n int, d time.Duration, name string) (rate, busyRate float64) {
	l.s.t.Helper()
	began, used, before := time.Now(), l.s.ProcessorTime(), l.good()
	l.ended = false
	l.start(n, name)
	time.Sleep(d)
	l.untilGood()
	l.end()
	good := float64(l.good() - before)
	return good / time.Since(began).Seconds(), good / (l.s.ProcessorTime() - used)
}

// TestOverload sends requests on far more connections than the server, on one
// core, can serve at once. Each must have a response, which may be 503 with
// Retry-After, and so must the request that follows the load.
func TestOverload(t *testing.T) {
	parallel(t)
	n, _ := rounds(300, 1000)
	d := 500 * time.Millisecond
	if *full {
		d = 30 * time.Second
	}
	allowFiles(t, 10_000)
	prefix := []string{"env", "GOMAXPROCS=1"}
	if _, err := exec.LookPath("taskset"); err == nil {
		prefix = append(prefix, "taskset", "-c", "0")
	}
	s := start(t, t.TempDir(), prefix...)
	for i := range 20 {
		s.create(fmt.Sprint("pet ", i))
	}
	var results []string
	lists, writes := s.newLoad(), s.newLoad()
	lists.request = func(string) string { return s.raw("GET", "/pets?limit=20", "", "") }
	writes.after = 20
	for _, kind := range []struct {
		name string
		*load
	}{{"lists", lists}, {"writes", writes}} {
		fewRate, fewBusyRate := kind.rates(64, max(d/5, 500*time.Millisecond), "few")
		rate, busyRate := kind.rates(n, d, "many")
		began := time.Now()
		s.Must(http.StatusOK, "GET", "/pets?limit=1", "")
		if others := kind.others(200, 201, 202, 503); others > 0 {
			t.Errorf("%s: %d requests without a response, or with another status: %v", kind.name, others, kind.status)
		}
		if *idle && busyRate < 0.8*fewBusyRate {
			t.Errorf("%s: %.2f of the rate of 64 connections", kind.name, busyRate/fewBusyRate)
		}
		results = append(results, fmt.Sprintf("%s: %d on %d connections and 64, %d refused with 503, 0 without a response, %.2f of the rate on 64 (%.2f by processor time), next request after %v",
			kind.name, kind.good(), n, kind.status[503], rate/fewRate, busyRate/fewBusyRate, time.Since(began).Round(time.Millisecond)))
	}
	s.Stop()
	if extra, _ := writes.check(t, "after the load", s.db()); len(extra) > 0 {
		t.Errorf("%q were refused, but are in the store", extra)
	}
	report(t, "%s", strings.Join(results, "; "))
}
