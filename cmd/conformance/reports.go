package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
)

// reports are the reports to write.
type reports []reportFile

type reportFile struct {
	format report.Format
	path   string // "-": standard output
}

// add adds a report. s is FORMAT=FILE, and FORMAT must be one of formats.
func (r *reports) add(s string, formats ...report.Format) error {
	name, path, ok := strings.Cut(s, "=")
	format := report.Format(name)
	all := strings.ReplaceAll(strings.Trim(fmt.Sprint(formats), "[]"), " ", ", ")
	switch {
	case !ok || path == "":
		return fmt.Errorf("must be FORMAT=FILE, as in json=report.json; the formats are %s", all)
	case !slices.Contains(formats, format):
		return fmt.Errorf("unknown format %q; the formats are %s", name, all)
	case slices.ContainsFunc(*r, func(f reportFile) bool { return f.path == filepath.Clean(path) }):
		return fmt.Errorf("another report already goes to %s", path)
	}
	*r = append(*r, reportFile{format, filepath.Clean(path)})
	return nil
}

// check returns an error if the folder of a report is missing: it is better known before
// the run.
func (r reports) check() error {
	for _, f := range r {
		if _, err := os.Stat(filepath.Dir(f.path)); err != nil {
			return flags.Usagef("-report: %w", err)
		}
	}
	return nil
}

// write prints the text, and writes each report that can be written. encode writes the
// report in a format.
func (r reports) write(c *flags.Call, encode func(io.Writer, report.Format) error) error {
	var errs []error
	if err := encode(r.printed(c), report.Text); err != nil {
		errs = append(errs, fmt.Errorf("the report cannot be printed: %w", err))
	}
	for _, f := range r {
		var b bytes.Buffer
		err := encode(&b, f.format)
		if err == nil {
			err = f.put(c, b.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("-report: %w", err))
		}
	}
	if len(errs) > 0 {
		return flags.Usagef("%w", errors.Join(errs...))
	}
	return nil
}

// writeAs writes a report of a command other than run in a format: v as JSON, or its
// text.
func (r reports) writeAs(c *flags.Call, v fmt.Stringer) error {
	return r.write(c, func(w io.Writer, f report.Format) error {
		text := v.String()
		if f == report.JSON {
			b, err := json.Marshal(v, jsontext.WithIndent("  "))
			if err != nil {
				return err
			}
			text = string(b) + "\n"
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

// printed returns where to print the report that is not in a file: to standard
// output, or to standard error if a report of -report goes to standard output.
func (r reports) printed(c *flags.Call) io.Writer {
	if slices.ContainsFunc(r, func(f reportFile) bool { return f.path == "-" }) {
		return c.Stderr
	}
	return c.Stdout
}

// put writes b to the file.
func (f reportFile) put(c *flags.Call, b []byte) error {
	if f.path == "-" {
		_, err := c.Stdout.Write(b)
		return err
	}
	return os.WriteFile(f.path, b, 0o644)
}
