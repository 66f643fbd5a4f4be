package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// figure is something to measure. It gives one row of the table or a few.
type figure struct {
	name string // that -run selects it by
	run  func(*bench) ([]row, error)
}

// row is a row of the table: what was measured, in pairs.
type row struct {
	Figure  string `json:"figure"`
	Against string `json:"against"`
	Unit    unit   `json:"unit"` // of the sides' values
	Reach   limit  `json:"reach"`
	Pairs   []pair `json:"pairs"`
	Note    string `json:"note,omitzero"`
}

// pair is two measurements made one right after the other. Where a figure is
// held against a plain number there is no other side.
type pair struct {
	Ours   side `json:"ours"`
	Theirs side `json:"theirs,omitzero"`
}

type side struct {
	Value float64 `json:"value"`

	// CPU is the processor time of the process that answered, in seconds a
	// request; 0 where it is not known or means nothing.
	CPU float64 `json:"cpu,omitzero"`
}

// limit is what a figure is to reach: a ratio to the other side, or a value.
// The zero limit is that of a row for orientation.
type limit struct {
	Kind  limitKind `json:"kind,omitzero"`
	Value float64   `json:"value,omitzero"`
}

type limitKind string

const (
	atLeastRatio limitKind = "ratio at least"
	atMostRatio  limitKind = "ratio at most"
	atMost       limitKind = "at most"
)

// unit is what a value counts.
type unit string

const (
	perSecond unit = "/s"
	inSeconds unit = "s"
	inBytes   unit = "B"
	count     unit = "count"
)

func (u unit) format(v float64) string {
	switch u {
	case perSecond:
		return fmt.Sprintf("%.0f/s", v)
	case inSeconds:
		return formatSeconds(v)
	case inBytes:
		return fmt.Sprintf("%.1f MB", v/1e6)
	}
	return fmt.Sprintf("%.3g", v)
}

// formatCount separates thousands.
func formatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatSeconds shows three digits: neither nanoseconds of seconds nor
// nothing but a zero of a microsecond.
func formatSeconds(v float64) string {
	d := time.Duration(v * float64(time.Second))
	for unit := time.Second; unit > 1; unit /= 1000 {
		if d >= unit {
			return fmt.Sprintf("%.3g %s", float64(d)/float64(unit), map[time.Duration]string{
				time.Second: "s", time.Millisecond: "ms", time.Microsecond: "µs"}[unit])
		}
	}
	return fmt.Sprintf("%d ns", d)
}

func (r row) isRatio() bool { return r.Reach.Kind != atMost }

// figures returns what each pair says.
func (r row) figures() []float64 {
	var all []float64
	for _, p := range r.Pairs {
		if r.isRatio() {
			all = append(all, p.Ours.Value/p.Theirs.Value)
		} else {
			all = append(all, p.Ours.Value)
		}
	}
	return all
}

// reached reports whether the median is on the right side of the limit, and
// false for known where there is none.
func (r row) reached() (ok, known bool) {
	m := median(r.figures())
	switch r.Reach.Kind {
	case atLeastRatio:
		return m >= r.Reach.Value, true
	case atMostRatio, atMost:
		return m <= r.Reach.Value, true
	}
	return false, false
}

// sides returns the medians of one side's values and processor times.
func (r row) sides(which func(pair) side) side {
	var values, cpus []float64
	for _, p := range r.Pairs {
		values = append(values, which(p).Value)
		cpus = append(cpus, which(p).CPU)
	}
	return side{median(values), median(cpus)}
}

func ours(p pair) side   { return p.Ours }
func theirs(p pair) side { return p.Theirs }

// median returns the middle of values, which is the mean of the two there when
// their number is even; NaN if there are none.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// quantile returns the value that the share q of the sorted values do not
// exceed; 0 if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// interleave measures the two sides in turn, A B B A and so on, so that what
// changes on the machine meanwhile meets both alike. A first pair, in which
// caches fill and connections open, does not count.
func (b *bench) interleave(ours, theirs func() (side, error)) ([]pair, error) {
	var pairs []pair
	for i := range b.pairs + 1 {
		var p pair
		measure := []func() error{
			func() (err error) { p.Ours, err = ours(); return },
			func() (err error) { p.Theirs, err = theirs(); return },
		}
		if i%2 == 1 {
			slices.Reverse(measure)
		}
		for _, m := range measure {
			if err := b.ctx.Err(); err != nil {
				return nil, err
			}
			if err := m(); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// repeat measures a side that is held against a number.
func (b *bench) repeat(measure func() (side, error)) ([]pair, error) {
	var pairs []pair
	for range b.pairs {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		s, err := measure()
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{Ours: s})
	}
	return pairs, nil
}
