package main

import (
	"bytes"
	"fmt"
	"math"
)

// The plot's size and the margins around its field, in pixels. The right one
// has the names of the lines.
const (
	plotWidth, plotHeight = 800, 460
	plotLeft, plotRight   = 70, 200
	plotTop, plotBottom   = 44, 52
)

// plotStyle has the page's background and the lines in colours that can be
// told apart, on white and, for readers whose screen is dark, on black.
const plotStyle = `<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.page { fill: #ffffff } .grid { stroke: #d0d7de } .faint { fill: #57606a }
.line { fill: none; stroke-width: 2.5 }
.c0 { stroke: #0969da; fill: #0969da } .c1 { stroke: #1a7f37; fill: #1a7f37 } .c2 { stroke: #9a6700; fill: #9a6700 }
.c3 { stroke: #cf222e; fill: #cf222e } .c4 { stroke: #8250df; fill: #8250df }
text.c0, text.c1, text.c2, text.c3, text.c4 { stroke: none } .line { fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .grid { stroke: #30363d } .faint { fill: #9198a1 }
.c0 { stroke: #58a6ff; fill: #58a6ff } .c1 { stroke: #3fb950; fill: #3fb950 } .c2 { stroke: #d29922; fill: #d29922 }
.c3 { stroke: #ff7b72; fill: #ff7b72 } .c4 { stroke: #bc8cff; fill: #bc8cff } .line { fill: none }
}
</style>
`

// axis maps the logarithms of values to pixels.
type axis struct {
	low, high int // powers of ten
	from, to  float64
}

func (a axis) at(v float64) float64 {
	return a.from + (math.Log10(v)-float64(a.low))/float64(a.high-a.low)*(a.to-a.from)
}

// powers returns the powers of ten around the values.
func powers(values []float64) (low, high int) {
	low, high = math.MaxInt, math.MinInt
	for _, v := range values {
		low = min(low, int(math.Floor(math.Log10(v)+1e-9)))
		high = max(high, int(math.Ceil(math.Log10(v)-1e-9)))
	}
	if low >= high {
		high = low + 1
	}
	return low, high
}

// drawGrowth draws what things cost against how many pets there are, both
// on logarithmic scales: what does not grow is level.
func drawGrowth(points []point) []byte {
	var xs, ys []float64
	for _, p := range points {
		xs = append(xs, float64(p.Pets))
		for _, c := range costs {
			ys = append(ys, p.Seconds[c.name])
		}
	}
	x := axis{from: plotLeft, to: plotWidth - plotRight}
	y := axis{from: plotHeight - plotBottom, to: plotTop}
	x.low, x.high = powers(xs)
	y.low, y.high = powers(ys)

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">`+"\n", plotWidth, plotHeight)
	fmt.Fprint(&b, "<title>Time of a call against the number of pets</title>\n", plotStyle)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text x="%d" y="24">time of a call, in process</text>`+"\n", plotLeft-50)
	fmt.Fprintf(&b, `<text class="faint" x="%.0f" y="%d" text-anchor="middle">pets in the store</text>`+"\n", (x.from+x.to)/2, plotHeight-12)
	for e := y.low; e <= y.high; e++ {
		at := y.at(math.Pow10(e))
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1[2]f"/>`+"\n", x.from, at, x.to)
		fmt.Fprintf(&b, `<text class="faint" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n", x.from-8, at+4, formatSeconds(math.Pow10(e)))
	}
	for e := x.low; e <= x.high; e++ {
		at := x.at(math.Pow10(e))
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1[1]f" y2="%.1[3]f"/>`+"\n", at, y.from, y.to)
		fmt.Fprintf(&b, `<text class="faint" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", at, y.from+20, shortCount(e))
	}
	labels := labelPlaces(points, y)
	for i, c := range costs {
		fmt.Fprintf(&b, `<polyline class="line c%d" points="`, i)
		for _, p := range points {
			fmt.Fprintf(&b, "%.1f,%.1f ", x.at(float64(p.Pets)), y.at(p.Seconds[c.name]))
		}
		fmt.Fprint(&b, `"/>`+"\n")
		for _, p := range points {
			fmt.Fprintf(&b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3"/>`+"\n", i, x.at(float64(p.Pets)), y.at(p.Seconds[c.name]))
		}
		last := points[len(points)-1].Seconds[c.name]
		fmt.Fprintf(&b, `<text class="c%d" x="%.1f" y="%.1f">%s, %s</text>`+"\n", i, x.to+10, labels[i]+4, c.name, formatSeconds(last))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// labelPlaces returns where the name of each line is written: at its end, or
// as near as leaves the names apart.
func labelPlaces(points []point, y axis) []float64 {
	const apart = 17
	at := make([]float64, len(costs))
	for i, c := range costs {
		at[i] = y.at(points[len(points)-1].Seconds[c.name])
	}
	for range 100 { // few lines: they come to rest soon
		for i := range at {
			for j := range at {
				if d := at[j] - at[i]; i != j && d >= 0 && d < apart && (d > 0 || i < j) {
					at[i] -= (apart - d) / 2
					at[j] += (apart - d) / 2
				}
			}
		}
	}
	return at
}

// shortCount writes a power of ten.
func shortCount(e int) string {
	switch n := int(math.Pow10(e % 3)); e / 3 {
	case 0:
		return fmt.Sprint(n)
	case 1:
		return fmt.Sprintf("%d,000", n)
	case 2:
		return fmt.Sprintf("%d million", n)
	default:
		return fmt.Sprintf("1e%d", e)
	}
}
