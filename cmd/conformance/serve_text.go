package main

import (
	"fmt"
	"strings"
)

// String returns the report as text: the mistakes, what may be on purpose, and one
// line for each difficulty.
func (r clientReport) String() string {
	var b strings.Builder
	mistakes := 0
	for _, f := range r.Findings {
		if f.Certain {
			mistakes++
			fmt.Fprintf(&b, "MISTAKE %s\n", strings.ReplaceAll(f.String(), "\n", "\n  "))
		} else {
			first, _, _ := strings.Cut(f.String(), "\n")
			fmt.Fprintf(&b, "NOTE %s\n", first)
		}
	}
	if len(r.Findings) > 0 {
		b.WriteString("\n")
	}
	var unmet []string
	for _, met := range r.Met {
		how := "no mistake seen"
		switch {
		case met.Times == 0:
			unmet = append(unmet, met.Difficulty)
			continue
		case len(met.Failed) > 0:
			how = "failed: " + strings.Join(met.Failed, ", ")
		case met.Handled > 0:
			how = fmt.Sprint("handled ", met.Handled)
		}
		fmt.Fprintf(&b, "%-18s met %4d, %s\n", met.Difficulty, met.Times, how)
	}
	if len(unmet) > 0 {
		fmt.Fprintf(&b, "not met: %s\n", strings.TrimSpace(wrap(unmet, "         ")))
	}
	verdict := "no mistake"
	switch {
	case mistakes == 1:
		verdict = "1 kind of mistake"
	case mistakes > 1:
		verdict = fmt.Sprint(mistakes, " kinds of mistakes")
	case r.Succeeded == 0:
		verdict = "nothing to judge"
	}
	fmt.Fprintf(&b, "\n%s: %d requests, %d succeeded, seed %d\n", verdict, r.Requests, r.Succeeded, r.Seed)
	return b.String()
}

// wrap returns words in lines of about 90 characters, separated by commas.
func wrap(words []string, indent string) string {
	var b strings.Builder
	line := indent
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if len(line)+len(word) > 90 {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ")
}
