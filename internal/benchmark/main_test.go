package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// TestMain makes the test binary the parts of the benchmark too.
func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	os.Exit(m.Run())
}

// newBench returns a benchmark that measures next to nothing, by the Go
// client.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{ctx: t.Context(), log: io.Discard, dir: t.TempDir(), pairs: 1, duration: 250 * time.Millisecond, pets: servedPets}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every figure that needs no load runs, and what it measured is in the table
// and in the files.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		glob string
		want []string
	}{
		{"load", []string{"| bringing in 10,000 pets | one run", "| file of 10,000 pets | their JSON | ≤ 3 × |"}},
		{"open", []string{"| closed cleanly |", "| killed while writing |"}},
		{"large-create", []string{"| create, 1 caller in 10,000 pets | the same in 1,000, time of a call | ≤ 1.3 × |"}},
		{"growth", []string{"| Pets | get |", "\n| 1,000 | ", "\n| 10,000 | "}},
	} {
		jsonFile, plot := filepath.Join(dir, tt.glob+".json"), filepath.Join(dir, tt.glob+".svg")
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), []string{"-run", tt.glob, "-pairs=1", "-duration=10ms", "-pets=10000",
			"-dir", dir, "-json", jsonFile, "-plot", plot}, &stdout, &stderr)
		if err != nil {
			t.Fatalf("%s: %v\n%s", tt.glob, err, &stderr)
		}
		for _, part := range tt.want {
			if !strings.Contains(stdout.String(), part) {
				t.Errorf("%s: the output lacks %q:\n%s", tt.glob, part, &stdout)
			}
		}
		b, err := os.ReadFile(jsonFile)
		if err != nil {
			t.Fatal(err)
		}
		var rep report
		if err := json.Unmarshal(b, &rep); err != nil || len(rep.Rows)+len(rep.Growth) == 0 || rep.Pets != 10_000 {
			t.Errorf("%s: %v, in %s", tt.glob, err, b)
		}
		if _, err := os.Stat(plot); (err == nil) != (tt.glob == "growth") {
			t.Errorf("%s: the plot: %v", tt.glob, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "run-*"))
	if err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The tables take the place of those that were in a document before.
func TestTablesInADocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	rep := &report{Rows: []row{{Figure: "speed", Unit: perSecond, Pairs: []pair{{side{Value: 1}, side{Value: 2}}}}}}
	if err := os.WriteFile(path, []byte("before\n"+tablesStart+"old\n"+tablesEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := rep.putInto(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got); !strings.HasPrefix(s, "before\n"+tablesStart) || !strings.HasSuffix(s, tablesEnd+"after\n") ||
		strings.Count(s, "| speed |") != 1 || strings.Contains(s, "old") {
		t.Errorf("the document is now:\n%s", s)
	}
	if err := os.WriteFile(path, []byte("no place for tables\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rep.putInto(path); err == nil {
		t.Error("tables were put into a document that has no place for them")
	}
}

func TestWrongUse(t *testing.T) {
	for _, args := range []string{"-run=nothing", "-run=[", "-pairs=0", "-duration=0s", "-pets=999", "-what", "more"} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{args}, &stdout, &stderr); !errors.Is(err, errUsage) || stdout.Len() > 0 {
			t.Errorf("%s: %v, %s", args, err, &stdout)
		}
	}
}

func TestRowsAreJudged(t *testing.T) {
	pairs := func(ours ...float64) (all []pair) {
		for _, v := range ours {
			all = append(all, pair{side{Value: v}, side{Value: 2}})
		}
		return all
	}
	for _, tt := range []struct {
		row      row
		measured string
		verdict  string
	}{
		{row{Unit: perSecond, Reach: limit{atLeastRatio, 0.95}, Pairs: pairs(1.9, 1, 9)}, "0.95 (0.5–4.5)", "yes"},
		{row{Unit: perSecond, Reach: limit{atLeastRatio, 0.95}, Pairs: pairs(1.8, 1, 9)}, "0.9 (0.5–4.5)", "**no**"},
		{row{Unit: inSeconds, Reach: limit{atMostRatio, 1.3}, Pairs: pairs(2.6)}, "1.3", "yes"},
		{row{Unit: inSeconds, Reach: limit{atMostRatio, 1.3}, Pairs: pairs(2.7)}, "1.35", "**no**"},
		{row{Unit: inSeconds, Reach: limit{atMost, 0.1}, Pairs: pairs(0.09, 0.11)}, "100 ms (90 ms–110 ms)", "yes"},
		{row{Unit: inBytes, Reach: limit{atMost, 64e6}, Pairs: pairs(65e6)}, "65.0 MB", "**no**"},
		{row{Unit: count, Reach: limit{atMost, 6}, Pairs: pairs(6)}, "6", "yes"},
		{row{Unit: inSeconds, Pairs: pairs(3)}, "1.5", "–"},
		{row{Unit: inSeconds}, "–", "–"},
	} {
		if m, v := tt.row.measured(), tt.row.verdict(); m != tt.measured || v != tt.verdict {
			t.Errorf("%+v: %s, %s; want %s, %s", tt.row, m, v, tt.measured, tt.verdict)
		}
	}
}

func TestPairsAlternate(t *testing.T) {
	b := newBench(t)
	b.pairs = 3
	order := ""
	measure := func(s string, v float64) func() (side, error) {
		return func() (side, error) { order += s; return side{Value: v}, nil }
	}
	pairs, err := b.interleave(measure("A", 1), measure("B", 2))
	if err != nil || order != "ABBAABBA" || len(pairs) != 3 {
		t.Errorf("%v: order %s, %v", err, order, pairs)
	}
	for _, p := range pairs {
		if p.Ours.Value != 1 || p.Theirs.Value != 2 {
			t.Errorf("the sides are mixed up: %v", p)
		}
	}
	failure := errors.New("no")
	if _, err := b.interleave(measure("A", 1), func() (side, error) { return side{}, failure }); err != failure {
		t.Errorf("the error is %v", err)
	}
}

func TestFormats(t *testing.T) {
	for v, want := range map[float64]string{2: "2 s", 0.0123456: "12.3 ms", 1e-6: "1 µs", 0.000250: "250 µs", 42e-9: "42 ns"} {
		if got := formatSeconds(v); got != want {
			t.Errorf("%v: %s; want %s", v, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1", 999: "999", 1000: "1,000", 123456: "123,456", 10_000_000: "10,000,000"} {
		if got := formatCount(n); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
	if got := quantile([]float64{1, 2, 3, 4}, 0.5); got != 2 {
		t.Errorf("half of four are at most %v", got)
	}
	if got := quantile([]float64{1, 2, 3, 4}, 0.99); got != 4 {
		t.Errorf("99 %% of four are at most %v", got)
	}
}

// The plot is well formed, has every line with a point for each size, and no
// name over another.
func TestPlot(t *testing.T) {
	var points []point
	for n := int64(1000); n <= 10_000_000; n *= 10 {
		p := point{Pets: n, Seconds: map[string]float64{}}
		for i, c := range costs {
			p.Seconds[c.name] = 1e-6 * float64(1+i/2)
		}
		points = append(points, p)
	}
	svg := drawGrowth(points)
	circles := 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if want := len(points) * len(costs); circles != want {
		t.Errorf("%d points; want %d", circles, want)
	}
	at := labelPlaces(points, axis{low: -7, high: -5, from: 400, to: 40})
	for i := range at {
		for j := range i {
			if d := at[i] - at[j]; d > -12 && d < 12 {
				t.Errorf("the names %d and %d are at %v and %v", j, i, at[j], at[i])
			}
		}
	}
}
