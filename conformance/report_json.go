package conformance

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// writeJSON writes r as the JSON that its tags describe.
func (r *Report) writeJSON(w io.Writer) error {
	b, err := json.Marshal(r, jsontext.WithIndent("  "), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
