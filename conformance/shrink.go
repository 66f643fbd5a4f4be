package conformance

import (
	"errors"
	"slices"
)

// shrinkRequests bounds what is sent to make a failing body smaller.
const shrinkRequests = 150

// shrink returns the smallest draft found that still fails, and how it fails.
// A draft that is not like the first (keep) is not tried: what is without
// fault stays so, and what has one keeps one. An error that is no violation
// ends the search.
func shrink(d draft, failure error, keep func(draft) bool, try func(draft) error) (draft, error) {
	tries := 0
	for again := true; again; {
		again = false
		for _, smaller := range d.smaller() {
			if smaller.size() >= d.size() || !keep(smaller) {
				continue
			}
			if tries++; tries > shrinkRequests {
				return d, failure
			}
			err := try(smaller)
			var v *violation
			if !errors.As(err, &v) {
				if err != nil {
					return d, failure
				}
				continue
			}
			d, failure, again = smaller, err, true
			break
		}
	}
	return d, failure
}

// size orders drafts: by their length, then by how plain they are.
func (d draft) size() int {
	n := 0
	body := d.body()
	for _, c := range body {
		if c < '0' || c > 'z' {
			n++
		}
	}
	return 4*len(body) + n
}

// smaller returns drafts that are d with something taken away, the boldest
// first.
func (d draft) smaller() []draft {
	var list []draft
	with := func(change func(*draft)) {
		c := d
		c.members = slices.Clone(d.members)
		change(&c)
		list = append(list, c)
	}
	if d.indent {
		with(func(c *draft) { c.indent = false })
	}
	if d.cut > 0 {
		with(func(c *draft) { c.cut = 1 })
		with(func(c *draft) { c.cut++ })
	}
	for i := range d.members {
		with(func(c *draft) { c.members = slices.Delete(c.members, i, i+1) })
		for _, v := range d.members[i].value.smaller() {
			with(func(c *draft) { c.members[i].value = v })
		}
	}
	return list
}

func (v value) smaller() []value {
	var list []value
	if v.pieces == nil {
		for _, raw := range []string{"1", "1.5", "null", "true", "[]", "{}"} {
			if len(raw) <= len(v.raw) && raw != v.raw {
				list = append(list, value{raw: raw})
			}
		}
		if n := len(v.raw); n > 2 {
			list = append(list, value{raw: v.raw[:n/2]}, value{raw: v.raw[:n-1]})
		}
		return list
	}
	n := len(v.pieces)
	part := func(from, to int) []string { return append([]string{}, v.pieces[from:to]...) }
	if n > 1 {
		list = append(list, value{pieces: part(0, n/2)}, value{pieces: part(n/2, n)})
	}
	for i := range v.pieces {
		list = append(list, value{pieces: append(part(0, i), v.pieces[i+1:]...)})
	}
	for i, piece := range v.pieces {
		if piece != "a" {
			plain := part(0, n)
			plain[i] = "a"
			list = append(list, value{pieces: plain})
		}
	}
	return list
}
