package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
)

// reports are the reports to write. A report that creates or replaces a file is
// written to a temporary file beside it, which is renamed once it is complete, so
// that no reader sees half a report. Links, devices and FIFOs are not replaced:
// the report is written to them, or to the file that a link leads to.
type reports []*reportFile

type reportFile struct {
	format   report.Format
	path     string    // "-": standard output
	w        io.Writer // where the report is written, once it is open
	file     *os.File  // w, if it must be closed; nil for an output of the process
	replaces bool      // file is temporary and will be renamed to path
}

// add adds a report, of the form FORMAT=FILE.
func (r *reports) add(s string) error {
	name, path, ok := strings.Cut(s, "=")
	format := report.Format(name)
	switch {
	case !ok || path == "":
		return fmt.Errorf("must be FORMAT=FILE, as in junit=report.xml; the formats are %s", formats())
	case !slices.Contains(report.Formats(), format):
		return fmt.Errorf("unknown format %q; the formats are %s", name, formats())
	case slices.ContainsFunc(*r, func(f *reportFile) bool { return f.path == path }):
		return fmt.Errorf("another report already goes to %s", path)
	}
	*r = append(*r, &reportFile{format: format, path: path})
	return nil
}

// formats returns the names of all formats, separated by commas.
func formats() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(report.Formats()), "[]"), " ", ", ")
}

// open opens all reports. It fails if one cannot be written, or when ctx ends.
func (r reports) open(ctx context.Context, c *flags.Call) error {
	for _, f := range r {
		if err := f.open(ctx, c); err != nil {
			r.discard()
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted before -report %s could be opened", f.path)
			}
			return flags.Usagef("-report: %s cannot be written: %v", f.path, err)
		}
	}
	return nil
}

func (f *reportFile) open(ctx context.Context, c *flags.Call) error {
	if f.path == "-" {
		f.w = c.Stdout
		return nil
	}
	info, err := os.Lstat(f.path)
	f.replaces = err != nil || info.Mode().IsRegular()
	if f.replaces {
		f.file, err = os.CreateTemp(filepath.Dir(f.path), ".conformance-*")
		f.w = f.file
		return err
	}
	// If path leads to an output of this process, use that output. To open it
	// again would fail for a socket, and would overwrite a file from its start.
	if info, err := os.Stat(f.path); err == nil {
		for _, w := range []io.Writer{c.Stdout, c.Stderr} {
			output, ok := w.(*os.File)
			if !ok {
				continue
			}
			if opened, err := output.Stat(); err == nil && os.SameFile(info, opened) {
				f.w = w
				return nil
			}
		}
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() { // a FIFO opens once it has a reader
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o644)
		done <- opened{file, err}
	}()
	select {
	case o := <-done:
		f.file, f.w = o.file, o.file
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// toStdout reports whether a report goes to standard output.
func (r reports) toStdout(c *flags.Call) bool {
	return slices.ContainsFunc(r, func(f *reportFile) bool { return f.w == c.Stdout })
}

func (r reports) write(result *conformance.Report, opts *report.Options) error {
	for _, f := range r {
		if err := f.write(result, opts); err != nil {
			return flags.Usagef("-report: %s cannot be written: %v", f.path, err)
		}
	}
	return nil
}

func (f *reportFile) write(result *conformance.Report, opts *report.Options) error {
	if f.file == nil {
		return report.Write(f.w, result, f.format, opts)
	}
	if info, err := f.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.file.Truncate(0); err != nil {
			return err
		}
	}
	err := report.Write(f.file, result, f.format, opts)
	if err == nil && f.replaces {
		err = f.file.Chmod(0o644)
	}
	if cerr := f.file.Close(); err == nil {
		err = cerr
	}
	if err == nil && f.replaces {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err == nil {
		f.file = nil
	}
	return err
}

// discard closes the reports that were not written, and removes the temporary
// files that were not renamed.
func (r reports) discard() {
	for _, f := range r {
		if f.file == nil {
			continue
		}
		f.file.Close()
		if f.replaces {
			os.Remove(f.file.Name())
		}
	}
}
