package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// report is everything that a run has measured.
type report struct {
	Machine string  `json:"machine"`
	Busy    string  `json:"busy"`   // how much so the machine was before the first figure
	Client  string  `json:"client"` // that made the load
	Pairs   int     `json:"pairs"`
	Seconds float64 `json:"seconds"` // of each half of a pair
	Pets    int64   `json:"pets"`
	Rows    []row   `json:"rows"`
	Growth  []point `json:"growth"`
}

// machine says what the figures are of.
func machine() string {
	cpu := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			cpu = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d cores of %s, %s, %s", runtime.NumCPU(), cpu, runtime.GOOS, runtime.Version())
}

// busy says how much else the machine has had to do: where that is much, the
// figures are worth little.
func busy() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load average unknown"
	}
	average, _, _ := strings.Cut(string(b), " ")
	return "load average at the start " + average
}

// measured is the median with the least and the most.
func (r row) measured() string {
	all := r.figures()
	if len(all) == 0 {
		return "–"
	}
	format := r.Unit.format
	if r.isRatio() {
		format = func(v float64) string { return fmt.Sprintf("%.3g", v) }
	}
	m := format(median(all))
	if len(all) == 1 {
		return m
	}
	return fmt.Sprintf("%s (%s–%s)", m, format(slices.Min(all)), format(slices.Max(all)))
}

func (r row) toReach() string {
	switch r.Reach.Kind {
	case atLeastRatio:
		return fmt.Sprintf("≥ %g ×", r.Reach.Value)
	case atMostRatio:
		return fmt.Sprintf("≤ %g ×", r.Reach.Value)
	case atMost:
		return "≤ " + r.Unit.format(r.Reach.Value)
	}
	return "orientation"
}

func (r row) verdict() string {
	switch ok, known := r.reached(); {
	case !known:
		return "–"
	case ok:
		return "yes"
	}
	return "**no**"
}

// print writes the tables in Markdown.
func (rep *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s; %s; load by %s; %d pairs, %g s each half; %s pets in the large file.\n\n",
		rep.Machine, rep.Busy, rep.Client, rep.Pairs, rep.Seconds, formatCount(rep.Pets))
	fmt.Fprintln(w, "| Figure | Held against | To reach | Measured: median (least–most) | Ours | Theirs | Processor time a request: ours | theirs | Reached |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rep.Rows {
		o, t := r.sides(ours), r.sides(theirs)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Figure, r.Against, r.toReach(), r.measured(),
			known(r.Unit.format, o.Value), known(r.Unit.format, t.Value),
			known(formatSeconds, o.CPU), known(formatSeconds, t.CPU), r.verdict())
	}
	for _, r := range rep.Rows {
		if r.Note != "" {
			fmt.Fprintf(w, "\n- %s, %s: %s.", r.Figure, r.Against, r.Note)
		}
	}
	fmt.Fprintln(w)
	rep.printGrowth(w)
}

// known formats v unless it is the zero that stands for nothing measured.
func known(format func(float64) string, v float64) string {
	if v == 0 {
		return "–"
	}
	return format(v)
}

func (rep *report) printGrowth(w io.Writer) {
	if len(rep.Growth) == 0 {
		return
	}
	fmt.Fprint(w, "\n| Pets |")
	for _, c := range costs {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprintf(w, " file |\n|---|%s---|\n", strings.Repeat("---|", len(costs)))
	for _, p := range rep.Growth {
		fmt.Fprintf(w, "| %s |", formatCount(p.Pets))
		for _, c := range costs {
			fmt.Fprintf(w, " %s |", formatSeconds(p.Seconds[c.name]))
		}
		fmt.Fprintf(w, " %s |\n", inBytes.format(p.Size))
	}
}

// Between these lines of a document are the tables.
const (
	tablesStart = "<!-- figures -->\n"
	tablesEnd   = "<!-- end of figures -->\n"
)

// cutTables returns what is around the tables of a document.
func cutTables(path string) (before, after string, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	before, rest, started := strings.Cut(string(doc), tablesStart)
	_, after, ended := strings.Cut(rest, tablesEnd)
	if !started || !ended {
		return "", "", fmt.Errorf("%s has no lines %q and %q", path, tablesStart, tablesEnd)
	}
	return before, after, nil
}

// putInto replaces the tables in a document.
func (rep *report) putInto(path string) error {
	before, after, err := cutTables(path)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(before + tablesStart + "\n")
	rep.print(&b)
	b.WriteString("\n" + tablesEnd + after)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// write writes everything to a file as JSON.
func (rep *report) write(path string) error {
	b, err := json.Marshal(rep, jsontext.Multiline(true))
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
