package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

const (
	maxMessage = 5   // lines of a message
	maxDetails = 16  // lines of the details
	maxLine    = 300 // bytes
)

// shortDetails returns the lines of the details of a result, without what the curl
// command shows too. Of the header of the response it has Content-Type and what the
// message names.
func shortDetails(result conformance.Result) []string {
	message := strings.SplitAfter(result.Message, "\n")
	result.Message = strings.Join(message[:min(len(message), maxMessage)], "")
	if result.Proof >= 0 {
		x := result.Exchanges[result.Proof]
		x.RequestHeader, x.RequestBody = nil, ""
		x.ResponseHeader = slices.DeleteFunc(slices.Clone(x.ResponseHeader), func(f conformance.Field) bool {
			return f.Name != "Content-Type" && !strings.Contains(result.Message, f.Name)
		})
		result.Exchanges, result.Proof = []conformance.Exchange{x}, 0
	}
	lines := strings.Split(strings.TrimSuffix(result.Details(), "\n"), "\n")
	if len(lines) > maxDetails {
		lines = append(lines[:maxDetails-1], "…")
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "curl ") {
			lines[i] = oneLine(line)
		}
	}
	return lines
}

// oneLine returns the first line of s, without control characters and cut to about
// maxLine bytes, at a space if there is one near.
func oneLine(s string) string {
	limit := maxLine
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > limit {
		if space := strings.LastIndexByte(s[:limit], ' '); space > limit/2 {
			limit = space
		}
	}
	return probe.Cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return ' '
		}
		return r
	}, s), limit)
}

// name returns the name, version and URL of the target.
func name(r *conformance.Report) string {
	return strings.TrimSpace(strings.TrimSpace(r.Implementation+" "+r.Version) + " " + r.URL)
}

// retries returns why the suite sent requests again, and how many at a time it then
// sent.
func retries(r *conformance.Report) string {
	s := mostFrequent(r.Retries)
	if r.Limit > 0 {
		s += fmt.Sprintf("; then at most %s at a time", probe.Plural(r.Limit, "request"))
	}
	return s
}

// idRange describes ids, which are sorted.
func idRange(ids []int64) string {
	ids = slices.Compact(slices.Clone(ids))
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (id %d)", ids[0])
	}
	return fmt.Sprintf(" (ids from %d to %d)", ids[0], ids[len(ids)-1])
}
