package apikey

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// document is a key file's contents. Its lines are kept as they were read, so
// that a change to one key leaves all else alone.
type document struct {
	lines []string // without their newlines
	keys  []Key
	at    []int // at[i] is the index in lines of keys[i]
}

// header starts every file that this package makes.
const header = "# API keys, one a line: id, account, SHA-256 of the key, created, expires (if ever)."

// lineError is an error in a line of a key file.
type lineError struct {
	line int // from 1
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// parse reads a key file's contents. It takes them whole or not at all: with
// one bad line skipped, a key might seem revoked, or a revocation be undone.
func parse(data []byte) (*document, error) {
	if len(data) == 0 {
		return nil, errors.New("empty, as if half written; a file without keys holds a comment line")
	}
	rest, ok := bytes.CutSuffix(data, []byte("\n"))
	d := &document{lines: strings.Split(string(rest), "\n")}
	if !ok {
		return nil, &lineError{len(d.lines), errors.New("no newline at its end, as if half written")}
	}
	ids, sums := map[string]int{}, map[[32]byte]int{}
	for i, line := range d.lines {
		// Editors on Windows may leave a carriage return.
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		k, err := parseKey(fields)
		if err != nil {
			return nil, &lineError{i + 1, err}
		}
		if first, ok := ids[k.ID]; ok {
			return nil, &lineError{i + 1, fmt.Errorf("id: the same as in line %d", first)}
		}
		if first, ok := sums[k.SHA256]; ok {
			return nil, &lineError{i + 1, fmt.Errorf("SHA-256: the same key as in line %d", first)}
		}
		ids[k.ID], sums[k.SHA256] = i+1, i+1
		d.keys, d.at = append(d.keys, k), append(d.at, i)
	}
	return d, nil
}

func parseKey(fields []string) (Key, error) {
	if len(fields) < 4 || len(fields) > 5 {
		return Key{}, fmt.Errorf("has %d fields; want id, account, SHA-256, created and, if it expires, expires", len(fields))
	}
	k := Key{ID: fields[0], Account: fields[1]}
	sum, err := hex.DecodeString(fields[2])
	if err != nil || len(sum) != len(k.SHA256) {
		return Key{}, errors.New("SHA-256: must be 64 hexadecimal digits")
	}
	copy(k.SHA256[:], sum)
	if k.Created, err = parseTime("created", fields[3]); err != nil {
		return Key{}, err
	}
	if len(fields) == 5 {
		if k.Expires, err = parseTime("expires", fields[4]); err != nil {
			return Key{}, err
		}
		if k.Expires.IsZero() {
			return Key{}, errors.New("expires: must be left out for a key that never does")
		}
	}
	return k, k.check()
}

func parseTime(what, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: must be a time like 2026-11-20T09:30:00Z", what)
	}
	return t.UTC().Truncate(time.Second), nil
}

// line returns k as a line of a key file, without the newline.
func (k Key) line() string {
	s := fmt.Sprintf("%s %s %x %s", k.ID, k.Account, k.SHA256, k.Created.UTC().Format(time.RFC3339))
	if !k.Expires.IsZero() {
		s += " " + k.Expires.UTC().Format(time.RFC3339)
	}
	return s
}

// bytes returns the contents that parse read, with the changes since.
func (d *document) bytes() []byte {
	return []byte(strings.Join(d.lines, "\n") + "\n")
}

// add puts k at the end.
func (d *document) add(k Key) error {
	if err := k.check(); err != nil {
		return err
	}
	for _, old := range d.keys {
		if old.ID == k.ID || old.SHA256 == k.SHA256 {
			return fmt.Errorf("key %s is there already", old.ID)
		}
	}
	d.lines = append(d.lines, k.line())
	d.keys, d.at = append(d.keys, k), append(d.at, len(d.lines)-1)
	return nil
}

// remove takes the key with that id away, and nothing else.
func (d *document) remove(id string) (Key, error) {
	i := slices.IndexFunc(d.keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return Key{}, ErrNoKey
	}
	k, at := d.keys[i], d.at[i]
	d.lines = slices.Delete(d.lines, at, at+1)
	d.keys, d.at = slices.Delete(d.keys, i, i+1), slices.Delete(d.at, i, i+1)
	for j := i; j < len(d.at); j++ {
		d.at[j]--
	}
	return k, nil
}
