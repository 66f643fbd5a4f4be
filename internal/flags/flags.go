// Package flags makes errors about the values of flags say what a value must
// be. Package flag's own say only "parse error".
package flags

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"regexp"
	"time"
)

// Explain makes the errors about those flags of fs that are booleans, numbers
// or durations say what is right. [flag.FlagSet.PrintDefaults] must not be
// called after it.
func Explain(fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		if g, ok := f.Value.(flag.Getter); ok {
			f.Value = value{g}
		}
	})
}

type value struct{ flag.Getter }

// IsBoolFlag tells package flag that -name alone stands for -name=true.
func (v value) IsBoolFlag() bool {
	_, ok := v.Get().(bool)
	return ok
}

var durationForm = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(h|m|s|ms))+$`)

func (v value) Set(s string) error {
	err := v.Getter.Set(s)
	if err == nil {
		return nil
	}
	switch v.Get().(type) {
	case bool:
		return errors.New("must be true or false")
	case time.Duration:
		if durationForm.MatchString(s) {
			return errors.New("must be between -2562047h and 2562047h")
		}
		return errors.New("must be a number with a unit (h, m, s), as in 5s or 720h (30 days)")
	case int, int64:
		return errors.New("must be an integer of at most 64 bits")
	case uint, uint64:
		return fmt.Errorf("must be an integer from 0 to %d", uint64(math.MaxUint64))
	}
	return err
}
