package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
)

// reportFlags are the reports to write. One that makes or replaces a file is
// written beside its place and moved there when it is whole, so that no reader
// sees half of one. Links, devices, FIFOs and the like stay what they are: what
// they lead to is written.
type reportFlags []*reportFile

type reportFile struct {
	format   conformance.Format
	path     string    // "-": standard output
	w        io.Writer // where the report is written, once it is open
	file     *os.File  // the same, to be closed; nil for an output of the process
	replaces bool      // file is to be moved to path
}

func (r *reportFlags) String() string { return "" }

// Set implements flag.Value.
func (r *reportFlags) Set(s string) error {
	name, path, ok := strings.Cut(s, "=")
	format := conformance.Format(name)
	switch {
	case !ok || path == "":
		return fmt.Errorf("must be FORMAT=FILE, as in junit=report.xml; the formats are %s", formats())
	case !slices.Contains(conformance.Formats(), format):
		return fmt.Errorf("there is no format %q; the formats are %s", name, formats())
	}
	*r = append(*r, &reportFile{format: format, path: path})
	return nil
}

// formats names all of them.
func formats() string {
	var names []string
	for _, f := range conformance.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// open finds out whether all of them can be written.
func (r reportFlags) open(env environment) error {
	for _, f := range r {
		if err := f.open(env); err != nil {
			r.discard()
			return usagef("run: -report: %s cannot be written: %v", f.path, err)
		}
	}
	return nil
}

func (f *reportFile) open(env environment) error {
	if f.path == "-" {
		f.w = env.stdout
		return nil
	}
	info, err := os.Lstat(f.path)
	f.replaces = err != nil || info.Mode().IsRegular()
	if f.replaces {
		f.file, err = os.CreateTemp(filepath.Dir(f.path), ".conformance-*")
		f.w = f.file
		return err
	}
	// To open again what an output already is fails for a socket, and has a
	// file written over from its start.
	if info, err := os.Stat(f.path); err == nil {
		for _, w := range []io.Writer{env.stdout, env.stderr} {
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
	f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o644)
	f.w = f.file
	return err
}

// toStdout reports whether one of them goes to standard output.
func (r reportFlags) toStdout(env environment) bool {
	return slices.ContainsFunc(r, func(f *reportFile) bool { return f.w == env.stdout })
}

func (r reportFlags) write(report *conformance.Report) error {
	for _, f := range r {
		if err := f.write(report); err != nil {
			return usagef("run: -report: %s cannot be written: %v", f.path, err)
		}
	}
	return nil
}

func (f *reportFile) write(report *conformance.Report) error {
	if f.file == nil {
		return report.Write(f.w, f.format)
	}
	if info, err := f.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.file.Truncate(0); err != nil {
			return err
		}
	}
	err := report.Write(f.file, f.format)
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

// discard closes what was not written, and removes what was not moved to its
// place.
func (r reportFlags) discard() {
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
