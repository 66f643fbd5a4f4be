package main

import (
	"fmt"
	"math"
	"slices"
	"text/tabwriter"
)

// side is one of those that a figure measures in turn.
type side struct {
	name    string
	measure func() (result, error)
}

// result has a value for each column of the output.
type result []float64

// row is a line of the output: the results of a side, or the ratios of two.
type row struct {
	name    string
	results []result
}

// measure measures the sides in the order A B B A and so on, so that all
// suffer alike if the speed of the machine changes. The first round does not
// count: it fills caches.
func (b *bench) measure(sides ...side) ([]row, error) {
	rows := make([]row, len(sides))
	for round := range b.pairs + 1 {
		for i := range sides {
			if round%2 == 1 {
				i = len(sides) - 1 - i
			}
			r, err := sides[i].measure()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].name, err)
			}
			rows[i].name = sides[i].name
			if round > 0 {
				rows[i].results = append(rows[i].results, r)
			}
		}
	}
	return rows, nil
}

// ratios returns the ratios of the pairs of two rows.
func ratios(a, b row) row {
	r := row{name: a.name + " / " + b.name}
	for i := range a.results {
		pair := make(result, len(a.results[i]))
		for j := range pair {
			pair[j] = a.results[i][j] / b.results[i][j]
		}
		r.results = append(r.results, pair)
	}
	return r
}

// print prints the median and the quartiles of each column of each row.
func (b *bench) print(columns []string, rows ...row) error {
	w := tabwriter.NewWriter(b.out, 0, 0, 3, ' ', 0)
	for _, c := range columns {
		fmt.Fprintf(w, "\t%s", c)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n  %s", r.name)
		for i := range columns {
			var values []float64
			for _, result := range r.results {
				values = append(values, result[i])
			}
			slices.Sort(values)
			fmt.Fprintf(w, "\t%.4g [%.4g %.4g]", quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75))
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// quantile returns the value that the share q of the sorted values does not
// exceed, between two of them if it must; NaN if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low, high := sorted[int(at)], sorted[int(math.Ceil(at))]
	return low + (high-low)*(at-math.Floor(at))
}
