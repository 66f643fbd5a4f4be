package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain makes the test binary a bare server too.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == bareCommand {
		main()
	}
	os.Exit(m.Run())
}

// A figure of each kind can be measured.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	var out bytes.Buffer
	args := []string{"-run=^(get|create-1|mixed|large-get|memory|open)$", "-pairs=1", "-duration=100ms", "-pets=2000"}
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if sections := strings.Count(out.String(), "\n\n"); sections != 6 || strings.Contains(out.String()[strings.Index(out.String(), "\n"):], "NaN") {
		t.Errorf("got %d figures, want 6, and no NaN:\n%s", sections, &out)
	}
}

func TestRefusedFlags(t *testing.T) {
	for _, arg := range []string{"-run=[", "-run=none", "-pairs=0", "-duration=0s", "-pets=999", "get"} {
		if err := run(t.Context(), []string{arg}, io.Discard); err == nil {
			t.Errorf("%s: got no error", arg)
		}
	}
}

func TestMeasure(t *testing.T) {
	order := ""
	measure := func(name string, value float64) side {
		return side{name, func() (result, error) { order += name; value++; return result{value}, nil }}
	}
	var out bytes.Buffer
	b := &bench{out: &out, pairs: 3}
	rows, err := b.measure(measure("A", 10), measure("B", 1))
	if err != nil || order != "ABBAABBA" {
		t.Fatalf("got %v in the order %s", err, order)
	}
	if err := b.print([]string{"unit"}, rows[0], rows[1], ratios(rows[0], rows[1])); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"unit\n", "  A       13 [12.5 13.5]\n", "  B       4 [3.5 4.5]\n", "  A / B   3.25 [3.025 3.625]\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q", &out, want)
		}
	}
	failure := errors.New("failed")
	if _, err := b.measure(side{"C", func() (result, error) { return nil, failure }}); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	if q := quantile(nil, 0.5); !math.IsNaN(q) {
		t.Errorf("the median of nothing is %v, want NaN", q)
	}
}
