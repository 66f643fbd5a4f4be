package linear

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// input is a request. Every pet is created under a name of its own, which
// is the Idempotency-Key too, so that a repetition is the same input again.
type input struct {
	op    string // create, get, list
	name  string // create
	id    int    // get; list: the id to go on after
	limit int    // list
}

// output is an answer.
type output struct {
	unknown bool     // none came, or one that leaves open what was done
	id      int      // create; 0 in the answer to get: there is none
	names   []string // get: one; list: the page's
	more    bool     // list
}

// The state is the names in the order of their ids, with a comma behind each.
func names(state any) []string {
	all := strings.Split(state.(string), ",")
	return all[:len(all)-1]
}

// step returns the states that a request can lead to; none if the answer is
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
