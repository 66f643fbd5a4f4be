package petstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"example.com/animalstore/petstore"
)

func TestCodeOf(t *testing.T) {
	full := &petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "no room", Err: io.ErrShortWrite}
	tests := []struct {
		err  error
		want petstore.Code
	}{
		{nil, ""},
		{io.EOF, petstore.CodeInternal},
		{petstore.ErrNotFound, petstore.CodeNotFound},
		{full, petstore.CodeInsufficientStorage},
		{fmt.Errorf("while storing: %w", full), petstore.CodeInsufficientStorage},
		{errors.Join(io.EOF, petstore.ErrIdempotencyMismatch), petstore.CodeIdempotencyMismatch},
		{context.Canceled, petstore.CodeUnavailable},
		{fmt.Errorf("waiting: %w", context.DeadlineExceeded), petstore.CodeUnavailable},
		{&petstore.Error{Code: petstore.CodeConflict, Err: context.Canceled}, petstore.CodeConflict},
	}
	for _, tt := range tests {
		if got := petstore.CodeOf(tt.err); got != tt.want {
			t.Errorf("CodeOf(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
	if !errors.Is(full, io.ErrShortWrite) || full.Error() != "no room: short write" {
		t.Errorf("the error %q hides its cause", full)
	}
}
