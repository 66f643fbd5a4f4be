package randombody

import "slices"

// maxTries limits the bodies that [Shrink] tries.
const maxTries = 150

// Shrink returns a small body that still fails, starting from d, which fails.
// It tries only bodies that keep accepts. An error of fails ends the search.
func Shrink(d Body, keep func(Body) bool, fails func(Body) (bool, error)) Body {
	tries := 0
	for again := true; again; {
		again = false
		for _, smaller := range d.smaller() {
			if smaller.size() >= d.size() || !keep(smaller) {
				continue
			}
			if tries++; tries > maxTries {
				return d
			}
			failed, err := fails(smaller)
			if err != nil {
				return d
			}
			if failed {
				d, again = smaller, true
				break
			}
		}
	}
	return d
}

// size orders bodies by length, then by the number of special characters.
func (d Body) size() int {
	n := 0
	body := d.String()
	for _, c := range body {
		if c < '0' || c > 'z' {
			n++
		}
	}
	return 4*len(body) + n
}

// smaller returns copies of d with something removed, the largest changes first.
func (d Body) smaller() []Body {
	var list []Body
	with := func(change func(*Body)) {
		c := d
		c.members = slices.Clone(d.members)
		change(&c)
		list = append(list, c)
	}
	if d.indent {
		with(func(c *Body) { c.indent = false })
	}
	if d.cut > 0 {
		with(func(c *Body) { c.cut = 1 })
		with(func(c *Body) { c.cut++ })
	}
	for i := range d.members {
		with(func(c *Body) { c.members = slices.Delete(c.members, i, i+1) })
		for _, v := range d.members[i].value.smaller() {
			with(func(c *Body) { c.members[i].value = v })
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
