package petstoretest

import (
	"fmt"
	"maps"
	"slices"
)

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name    string // such as repeated-without-key
	Count   int
	Did     string // what the client did, the first time
	Request string // with which it did so, on one line, without API keys
	Right   string // what would be right
}

// String returns the finding as a text of several lines.
func (f Finding) String() string {
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (the first of %d)", f.Count)
	}
	return fmt.Sprintf("%s: the client %s%s.\n%s\n%s", f.Name, f.Did, times, f.Request, f.Right)
}

// Summary is what a difficult server has seen of its clients.
type Summary struct {
	Requests  int
	Succeeded int // how many of the requests got a 2xx
	Findings  []Finding
	Met       map[string]int // how many exchanges had a difficulty, for each one of the server
}

// Summary returns what the server has seen of its clients so far. It is empty
// without Options.Difficult.
func (s *Server) Summary() Summary {
	d := s.difficult
	if d == nil {
		return Summary{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.seen
	sum.Findings, sum.Met = slices.Clone(sum.Findings), maps.Clone(sum.Met)
	return sum
}
