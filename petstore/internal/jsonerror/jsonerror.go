// Package jsonerror says what is wrong with JSON without naming types of Go.
package jsonerror

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// Explain returns an error that says where a value is wrong and why. Where is a JSON pointer
// without its first slash, such as 1/id for the second pet of a list; root stands for the
// whole text.
func Explain(e *json.SemanticError, root string) error {
	where := strings.TrimPrefix(string(e.JSONPointer), "/")
	if where == "" {
		where = root
	}
	if e.Err != nil {
		return fmt.Errorf("%s: %w", where, e.Err)
	}
	return fmt.Errorf("%s: must not be a JSON value of the kind %v", where, e.JSONKind)
}
