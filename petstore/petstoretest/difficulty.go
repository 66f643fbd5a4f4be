package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Difficulty is something that the contract allows and a client may not expect.
type Difficulty struct {
	Name  string // such as "lost-response"
	About string // what the server does, in one sentence
}

// Difficulties returns all difficulties.
func Difficulties() []Difficulty {
	var all []Difficulty
	for _, d := range allDifficulties {
		all = append(all, d.Difficulty)
	}
	return all
}

// difficulty is a [Difficulty] and how a server has it.
type difficulty struct {
	Difficulty

	group string // a server has at most one difficulty of a group; "": of none
	often int    // an exchange has it once in so many times

	show       func(*view, uint64) // what the server shows of its store, with the seed
	before     action              // in front of the operation, which is not carried out if it sets a status or cuts the connection
	after      action              // changes the response, or how it is sent
	interrupts bool                // the client does not get the result
}

// action acts on an exchange, with random numbers of its own. It reports whether
// the exchange has the difficulty.
type action func(*exchange, *rand.Rand) bool

// choose returns the difficulties with these names, or all without names. Of a
// group only one is chosen.
func choose(seed uint64, names []string) ([]difficulty, error) {
	for _, name := range names {
		if !slices.ContainsFunc(allDifficulties, func(d difficulty) bool { return d.Name == name }) {
			return nil, fmt.Errorf("petstoretest: there is no difficulty %q", name)
		}
	}
	groups := map[string][]string{} // the names of the difficulties to choose from
	wanted := slices.DeleteFunc(slices.Clone(allDifficulties), func(d difficulty) bool {
		return len(names) > 0 && !slices.Contains(names, d.Name)
	})
	for _, d := range wanted {
		groups[d.group] = append(groups[d.group], d.Name)
	}
	return slices.DeleteFunc(wanted, func(d difficulty) bool {
		members := groups[d.group]
		return d.group != "" && d.Name != members[random(seed, d.group, 0).IntN(len(members))]
	}), nil
}
