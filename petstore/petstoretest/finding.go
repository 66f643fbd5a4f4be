package petstoretest

import "fmt"

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name       string `json:"name"`                 // such as repeated-without-key
	Difficulty string `json:"difficulty,omitempty"` // the difficulty that the client did not handle; "": none
	Count      int    `json:"count"`
	Did        string `json:"did"`   // what the client did, the first time
	Right      string `json:"right"` // what would be right

	// Proof shows the first exchange with the mistake. If the client ignored an
	// earlier response, Proof shows that exchange before it. API keys are removed.
	Proof string `json:"proof"`
}

// String returns the finding as a text of several lines.
func (f Finding) String() string {
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (the first of %d)", f.Count)
	}
	return fmt.Sprintf("%s: the client %s%s.\n%s\n\n%s", f.Name, f.Did, times, f.Right, f.Proof)
}

// Summary is what a difficult server has seen of its clients.
type Summary struct {
	Requests  int       `json:"requests"`
	Succeeded int       `json:"succeeded"` // how many of the requests got a 2xx
	Findings  []Finding `json:"findings"`
	Met       []Met     `json:"met"` // one for each difficulty of the server
}

// Met says how often the clients met a difficulty.
type Met struct {
	Difficulty string `json:"difficulty"`
	Times      int    `json:"times"` // how many exchanges had the difficulty
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
	sum := Summary{Requests: d.requests, Succeeded: d.succeeded}
	for i := range rules {
		if f := d.found[i]; f != nil {
			sum.Findings = append(sum.Findings, *f)
		}
	}
	for _, a := range d.active {
		sum.Met = append(sum.Met, Met{a.name, d.met[a.name]})
	}
	return sum
}
