// Package report writes the report of a conformance run as text, JSON, JUnit XML or
// HTML: see [Write].
package report

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
)

// Format is a format of a report.
type Format string

const (
	Text  Format = "text"
	JSON  Format = "json" // that of [conformance.Report]
	JUnit Format = "junit"
	HTML  Format = "html" // one file without links to others
)

// Formats returns every format.
func Formats() []Format { return []Format{Text, JSON, JUnit, HTML} }

// Options says how to write a report. A nil pointer is like the zero value.
type Options struct {
	// Color makes Write color [Text] for a terminal.
	Color bool

	// Verbose adds lines to [Text]: each check that fails or warns with its curl
	// command, and each inconclusive check and known failure. The other formats
	// always have them.
	Verbose bool
}

// Write writes r to w. It returns an error of w, or one for an unknown format.
func Write(w io.Writer, r *conformance.Report, f Format, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	switch f {
	case Text:
		return writeText(w, r, *opts)
	case JSON:
		b, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true), json.FormatNilSliceAsNull(false))
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	case JUnit:
		return writeJUnit(w, r)
	case HTML:
		return writeHTML(w, r)
	}
	return fmt.Errorf("report format %q: must be one of %v", f, Formats())
}
