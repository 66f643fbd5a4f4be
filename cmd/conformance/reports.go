package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/animalstore/conformance"
)

// reportFlags are the reports to write. Each is written beside its place and
// moved there when it is whole, so that no reader sees half of one.
type reportFlags []*reportFile

type reportFile struct {
	format conformance.Format
	path   string
	tmp    *os.File // until it is moved
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

func (r reportFlags) open() error {
	for _, f := range r {
		if info, err := os.Stat(f.path); err == nil && info.IsDir() {
			r.discard()
			return usagef("run: -report: %s is a directory", f.path)
		}
		tmp, err := os.CreateTemp(filepath.Dir(f.path), ".conformance-*")
		if err != nil {
			r.discard()
			return usagef("run: -report: %s cannot be written: %v", f.path, err)
		}
		f.tmp = tmp
	}
	return nil
}

func (r reportFlags) write(report *conformance.Report) error {
	for _, f := range r {
		err := report.Write(f.tmp, f.format)
		if err == nil {
			err = f.tmp.Chmod(0o644)
		}
		if cerr := f.tmp.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = os.Rename(f.tmp.Name(), f.path)
		}
		if err != nil {
			return usagef("run: -report: %s cannot be written: %v", f.path, err)
		}
		f.tmp = nil
	}
	return nil
}

// discard removes what was not moved to its place.
func (r reportFlags) discard() {
	for _, f := range r {
		if f.tmp != nil {
			f.tmp.Close()
			os.Remove(f.tmp.Name())
			f.tmp = nil
		}
	}
}
