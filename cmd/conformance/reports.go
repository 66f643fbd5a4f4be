package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
)

// reports are the reports to write. A report that creates or replaces a file is
// written to a temporary file beside it, which is renamed once it is complete, so
// that no reader sees half a report. Links, devices and FIFOs are not replaced:
// the report is written to them, or to the file that a link leads to.
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
	case slices.ContainsFunc(*r, func(f reportFile) bool { return f.path == path }):
		return fmt.Errorf("another report already goes to %s", path)
	}
	*r = append(*r, reportFile{format, path})
	return nil
}

// check returns an error if it is clear before the run that a report cannot be
// written, or that two would be the same file.
func (r reports) check() error {
	seen := make(map[string]bool)
	for _, f := range r {
		if f.path == "-" {
			continue
		}
		if err := f.check(); err != nil {
			return flags.Usagef("%w", f.failed(err))
		}
		path, err := filepath.EvalSymlinks(filepath.Dir(f.path))
		if err == nil {
			path, err = filepath.Abs(filepath.Join(path, filepath.Base(f.path)))
		}
		if err != nil || seen[path] {
			return flags.Usagef("-report: %s: another report already goes there", cmp.Or(path, f.path))
		}
		seen[path] = true
	}
	return nil
}

func (f reportFile) check() error {
	info, err := os.Stat(f.path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return nil // to open it could block
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.path), ".conformance-*")
	if err != nil {
		return err
	}
	temporary.Close()
	return os.Remove(temporary.Name())
}

// failed returns the error for a report that cannot be written. It leaves out the path
// in err, which may be that of the temporary file.
func (f reportFile) failed(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		err = number
	}
	return fmt.Errorf("-report: %s cannot be written: %w", f.path, err)
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
			errs = append(errs, f.failed(err))
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
	if slices.ContainsFunc(r, func(f reportFile) bool { return f.output(c) == c.Stdout }) {
		return c.Stderr
	}
	return c.Stdout
}

// put writes b to the file.
func (f reportFile) put(c *flags.Call, b []byte) error {
	if w := f.output(c); w != nil {
		_, err := w.Write(b)
		return err
	}
	if info, err := os.Lstat(f.path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(f.path, b, 0o644)
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.path), ".conformance-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // unless it was renamed
	_, err = temporary.Write(b)
	if err == nil {
		err = temporary.Chmod(0o644)
	}
	if cerr := temporary.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), f.path)
	}
	return err
}

// output returns standard output or standard error if the report goes there, and
// otherwise nil. To open such a path again would fail for a socket, and would
// overwrite a file from its start.
func (f reportFile) output(c *flags.Call) io.Writer {
	if f.path == "-" {
		return c.Stdout
	}
	info, err := os.Stat(f.path)
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		if output, ok := w.(*os.File); ok && err == nil {
			if opened, err := output.Stat(); err == nil && os.SameFile(info, opened) {
				return w
			}
		}
	}
	return nil
}
