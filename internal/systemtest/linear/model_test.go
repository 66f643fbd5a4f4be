package linear

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// input is a request. Each created pet has its own name, which is also the
// Idempotency-Key. So a repetition is an equal input.
type input struct {
	op    string // create, get or list
	name  string // of the pet to create
	id    int    // of the pet to get; list: the pets after this id
	limit int    // of the list
}

// output is a response.
type output struct {
	unknown bool     // the outcome is unknown
	id      int      // of the pet created or returned; 0 if get found none
	names   []string // of the pets returned
	more    bool     // the list has further pages
}

// The state is a string: the names in the order of their ids, each followed by a
// comma.
func names(state any) []string {
	all := strings.Split(state.(string), ",")
	return all[:len(all)-1]
}

// step returns the states that a request can lead to; none if the response is
// wrong.
func step(state, in, out any) []any {
	i, o, all := in.(input), out.(output), names(state)
	switch i.op {
	case "create":
		at := slices.Index(all, i.name)
		created := state
		if at < 0 {
			at, created = len(all), state.(string)+i.name+","
		}
		if o.unknown {
			return []any{state, created}
		}
		if o.id == at+1 {
			return []any{created}
		}
	case "get":
		if o.unknown || o.id == 0 && i.id > len(all) ||
			o.id == i.id && i.id <= len(all) && slices.Equal(o.names, all[i.id-1:i.id]) {
			return []any{state}
		}
	case "list":
		from := min(i.id, len(all))
		to := min(from+i.limit, len(all))
		if o.unknown || slices.Equal(o.names, all[from:to]) && o.more == (to < len(all)) {
			return []any{state}
		}
	}
	return nil
}

var model = (&porcupine.NondeterministicModel{
	Init:              func() []any { return []any{""} },
	Step:              step,
	Equal:             func(a, b any) bool { return a.(string) == b.(string) },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) },
}).ToModel()
