package flags

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Var defines a flag with a default, whose value is read by parse: one of the
// functions below or the caller's own. The error of parse says what the value
// must be.
func Var[T any](fs *flag.FlagSet, p *T, name string, value T, usage string, parse func(string) (T, error)) {
	*p = value
	fs.Var(&parsed[T]{p, parse}, name, usage)
}

// parsed implements flag.Value.
type parsed[T any] struct {
	p     *T
	parse func(string) (T, error)
}

// String implements flag.Value. Package flag also calls it for a zero value, to
// leave out defaults that are zero from the help.
func (v *parsed[T]) String() string {
	if v.p == nil {
		return fmt.Sprint(*new(T))
	}
	return fmt.Sprint(*v.p)
}

// Set implements flag.Value.
func (v *parsed[T]) Set(s string) error {
	value, err := v.parse(s)
	if err == nil {
		*v.p = value
	}
	return err
}

// IsBoolFlag reports whether -name alone stands for -name=true.
func (v *parsed[T]) IsBoolFlag() bool {
	_, ok := any(v.p).(*bool)
	return ok
}

// Bool reads a flag that is true or false.
func Bool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("must be true or false")
	}
	return b, nil
}

// Integer reads a decimal integer from least to most.
func Integer[T int | int64](least, most T) func(string) (T, error) {
	return func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < int64(least) || n > int64(most) {
			return 0, fmt.Errorf("must be an integer from %d to %d", least, most)
		}
		return T(n), nil
	}
}

// Duration reads a duration that is at least least.
func Duration(least time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return 0, errors.New("must be a number with a unit (h, m, s), as in 5s or 720h (30 days), and at most 2562047h")
		case d < least:
			return 0, fmt.Errorf("must be at least %v", least)
		}
		return d, nil
	}
}

// OneOf reads one of the words.
func OneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("must be " + strings.Join(words, " or "))
		}
		return s, nil
	}
}

// HostPort reads an address of the form host:port.
func HostPort(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port) // from 0 to 65535, or the name of a service
	}
	if err != nil || strings.Contains(s, "/") {
		return "", errors.New("must be host:port without a scheme, as in 127.0.0.1:8080 or :8080")
	}
	return s, nil
}
