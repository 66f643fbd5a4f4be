// Package report writes the report of a conformance run: [Write] writes it as text,
// JSON, JUnit XML, HTML or Markdown. [Read] reads a report in JSON, and [Compare]
// compares two.
package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
)

// Format is a format of a report.
type Format string

const (
	Text  Format = "text"
	JSON  Format = "json"
	JUnit Format = "junit"
	HTML  Format = "html" // one file without links to others

	// Markdown is for GitHub. It has only the causes and the first failure, so that
	// it fits into a comment on a pull request.
	Markdown Format = "markdown"
)

// Formats returns every format.
func Formats() []Format { return []Format{Text, JSON, JUnit, HTML, Markdown} }

// Options says how to write a report. A nil pointer is like the zero value.
type Options struct {
	// Color makes Write color [Text] for a terminal.
	Color bool

	// Verbose adds lines to [Text]: all causes, each check that fails or warns with its
	// curl command, and each inconclusive check and known failure. [JSON], [JUnit] and
	// [HTML] always have them.
	Verbose bool
}

// Write writes r to w, without the exchanges of checks that passed. It returns an error
// of w, or one for an unknown format.
func Write(w io.Writer, r *conformance.Report, f Format, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	r = withoutPassed(r)
	switch f {
	case Text:
		return writeText(w, r, *opts)
	case JSON:
		b, err := json.Marshal(newDocument(r), jsontext.WithIndent("  "), json.Deterministic(true), json.FormatNilSliceAsNull(false))
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	case JUnit:
		return writeJUnit(w, r)
	case HTML:
		return writeHTML(w, r)
	case Markdown:
		_, err := io.WriteString(w, markdown(r))
		return err
	}
	return fmt.Errorf("report format %q: must be one of %v", f, Formats())
}

// withoutPassed returns a copy of r without the exchanges of checks that passed.
func withoutPassed(r *conformance.Report) *conformance.Report {
	short := *r
	short.Results = slices.Clone(r.Results)
	for i := range short.Results {
		if result := &short.Results[i]; result.Verdict == conformance.Pass {
			result.Exchanges, result.Proof = nil, -1
		}
	}
	return &short
}

// document is the JSON of a report.
type document struct {
	*conformance.Report `json:",inline"`
	Causes              []cause `json:"causes"`
}

type cause struct {
	Clause  string              `json:"clause"`
	What    string              `json:"what"`
	Verdict conformance.Verdict `json:"verdict"`
	Checks  []string            `json:"checks"` // their IDs
}

func newDocument(r *conformance.Report) document {
	d := document{Report: r}
	for _, c := range r.Causes() {
		one := cause{Clause: c.Clause, What: c.What, Verdict: c.Verdict}
		for _, result := range c.Results {
			one.Checks = append(one.Checks, result.ID)
		}
		d.Causes = append(d.Causes, one)
	}
	return d
}
