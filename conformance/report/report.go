// Package report writes the report of a conformance run as text, JSON or JUnit XML.
package report

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
)

// JSON writes r as JSON.
func JSON(w io.Writer, r *conformance.Report) error {
	b, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
