package conformance

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Select returns the checks that a glob of run matches (all if there is none)
// and no glob of skip does; * stands for any text. A glob that matches no
// check is an error with [ErrOptions] in its tree.
func Select(run, skip []string) ([]Check, error) {
	checks := Checks()
	for _, glob := range slices.Concat(run, skip) {
		if !slices.ContainsFunc(checks, func(c Check) bool { return matchGlob(glob, c.ID) }) {
			return nil, optionsError("%q matches no check", glob)
		}
	}
	return slices.DeleteFunc(checks, func(c Check) bool {
		matches := func(glob string) bool { return matchGlob(glob, c.ID) }
		return len(run) > 0 && !slices.ContainsFunc(run, matches) || slices.ContainsFunc(skip, matches)
	}), nil
}

// selectChecks finds out which checks do not run, and why.
func (s *Session) selectChecks() error {
	selected, err := Select(s.opts.Run, s.opts.Skip)
	if err != nil {
		return err
	}
	s.skipped = make(map[string]string)
	for _, c := range s.checks {
		isSelected := slices.ContainsFunc(selected, func(o Check) bool { return o.ID == c.ID })
		switch {
		case !isSelected:
			s.skipped[c.ID] = "not selected"
		case s.opts.ReadOnly && c.Writes:
			s.skipped[c.ID] = "read-only"
		case c.Feature == FeatureMessages && s.target.MessagesURL == "":
			s.skipped[c.ID] = "no messages URL"
		}
	}
	if len(s.skipped) == len(s.checks) {
		return optionsError("no check is left to run")
	}
	return nil
}

// matchGlob reports whether the whole of s matches glob, in which * stands
// for any text.
func matchGlob(glob, s string) bool {
	head, tail, star := strings.Cut(glob, "*")
	if !star {
		return glob == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for i := len(head); i <= len(s); i++ {
		if matchGlob(tail, s[i:]) {
			return true
		}
	}
	return false
}

func knownFailures(list []Known, checks []Check) (map[string]string, error) {
	known := make(map[string]string)
	for _, k := range list {
		switch {
		case !slices.ContainsFunc(checks, func(c Check) bool { return c.ID == k.ID }):
			return nil, optionsError("known failures: no check has the id %q", k.ID)
		case strings.TrimSpace(k.Reason) == "":
			return nil, optionsError("known failures: %s has no reason", k.ID)
		case known[k.ID] != "":
			return nil, optionsError("known failures: %s is there twice", k.ID)
		}
		known[k.ID] = k.Reason
	}
	return known, nil
}

// ReadKnown reads a list of known failures: a line for each, its id, white
// space and the reason. Empty lines and lines that start with # are comments.
func ReadKnown(r io.Reader) ([]Known, error) {
	var list []Known
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return nil, fmt.Errorf("line %d: %s has no reason after it", n, line)
		}
		list = append(list, Known{line[:i], strings.TrimSpace(line[i:])})
	}
	return list, sc.Err()
}
