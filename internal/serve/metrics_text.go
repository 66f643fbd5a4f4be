package serve

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// metricsType is the media type of a [metricsText].
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// metricsText is metrics in the text format of Prometheus.
type metricsText struct {
	bytes.Buffer
	name string // of the metric whose values follow
}

// metric begins a metric: a counter, a gauge, a histogram or a summary. The caller
// adds its values before it begins the next one.
func (t *metricsText) metric(name, kind, help string) {
	t.name = name
	fmt.Fprintf(t, "# HELP %[1]s %[3]s\n# TYPE %[1]s %[2]s\n", name, kind, help)
}

// single adds a metric that has one value, without labels.
func (t *metricsText) single(name, kind, help string, v float64) {
	t.metric(name, kind, help)
	t.value("", v)
}

// histogram adds a histogram, in seconds. labels are names and values in turn.
func (t *metricsText) histogram(d *durations, labels ...string) {
	count := int64(0)
	for i := range d.counts {
		count += d.counts[i].Load()
		bound := "+Inf"
		if i < len(bounds) {
			bound = number(bounds[i].Seconds())
		}
		t.value("_bucket", float64(count), append(slices.Clip(labels), "le", bound)...)
	}
	t.value("_sum", time.Duration(d.sum.Load()).Seconds(), labels...)
	t.value("_count", float64(count), labels...)
}

// value adds a value of the metric. The suffix follows the metric's name; it is ""
// for counters and gauges.
func (t *metricsText) value(suffix string, v float64, labels ...string) {
	t.WriteString(t.name + suffix)
	for i := 0; i < len(labels); i += 2 {
		before := ","
		if i == 0 {
			before = "{"
		}
		fmt.Fprintf(t, `%s%s="%s"`, before, labels[i], escaper.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		t.WriteString("}")
	}
	fmt.Fprintf(t, " %s\n", number(v))
}

// escaper escapes the value of a label.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// bounds are the upper bounds of the buckets of a histogram, except the last one.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	1 * time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// durations counts durations by bucket.
type durations struct {
	counts [len(bounds) + 1]atomic.Int64
	sum    atomic.Int64 // in nanoseconds
}

func (d *durations) add(took time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], took)
	d.counts[i].Add(1)
	d.sum.Add(int64(took))
}
