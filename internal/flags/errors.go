package flags

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// FileError returns err, which is of the file that a flag such as -db names, with the flag
// and what can be done.
func FileError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; check the path, and that its volume is mounted", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// permissionHint returns what can be done if err says that a file may not be used, or "".
func permissionHint(err error) string {
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, new(*fs.PathError)) {
		return ""
	}
	return "; run this as the user who owns the file, or let this user read and write it"
}

// parseError returns the text of an error of FlagSet.Parse, with what would be right.
func parseError(fs *flag.FlagSet, err error) string {
	const unexplained = ": parse error"
	text, ok := strings.CutSuffix(err.Error(), unexplained)
	if !ok {
		return err.Error()
	}
	value, _ := fs.Lookup(text[strings.LastIndex(text, " -")+len(" -"):]).Value.(flag.Getter)
	if value == nil { // of FlagSet.Func
		return err.Error()
	}
	switch value.Get().(type) {
	case time.Duration:
		return text + ": must be a duration such as 5s"
	case bool:
		return text + ": must be true or false"
	}
	return text + ": must be a whole number"
}
