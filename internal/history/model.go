package history

import "slices"

// content is the content of a store: the pet with the ID n has the n-th name.
// Equal contents have the same pointer, so that comparing them is fast.
type content struct {
	names []string
	next  map[string]*content // the content after the next creation, by its name
}

// created returns the content after a creation, and the pet's ID.
func (c *content) created(name string) (*content, int64) {
	if i := slices.Index(c.names, name); i >= 0 {
		return c, int64(i) + 1
	}
	if c.next[name] == nil {
		c.next[name] = &content{append(slices.Clip(c.names), name), map[string]*content{}}
	}
	return c.next[name], int64(len(c.names)) + 1
}

// Init returns the state of an empty store.
func Init() any { return &content{next: map[string]*content{}} }

// Step reports whether a store in that state may send a [Response] to a
// [Request], and returns its next state.
func Step(state, request, response any) (bool, any) {
	c, in, out := state.(*content), request.(Request), response.(Response)
	count := int64(len(c.names))
	switch {
	case in.Create != "":
		c, id := c.created(in.Create)
		return out.Unknown || out.ID == id && slices.Equal(out.Names, []string{in.Create}), c
	case in.Get > count:
		return len(out.Names) == 0, c
	case in.Get != 0:
		return out.ID == in.Get && slices.Equal(out.Names, c.names[in.Get-1:in.Get]), c
	}
	after := min(in.After, count)
	to := min(after+int64(in.Limit), count)
	return slices.Equal(out.Names, c.names[after:to]) && out.More == (to < count), c
}
