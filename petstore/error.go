package petstore

import (
	"context"
	"errors"
	"fmt"
)

// Code is the kind of an [Error], with the HTTP status that it becomes. The set is closed.
type Code string

const (
	CodeInvalid             Code = "invalid"              // 400: the arguments break a rule; the message says which
	CodeUnauthorized        Code = "unauthorized"         // 401: the credential is missing or unknown
	CodeNotFound            Code = "not_found"            // 404: there is no such pet, or over HTTP no such path
	CodeConflict            Code = "conflict"             // 409: an earlier create with the same [IdempotencyKey] is under way; repeat the call later
	CodeIdempotencyMismatch Code = "idempotency_mismatch" // 422: the [IdempotencyKey] was used with another value
	CodeInsufficientStorage Code = "insufficient_storage" // 507: there is no room, on the disk or for another ID; nothing was stored, and reads go on
	CodeUnavailable         Code = "unavailable"          // 503: it cannot be done now (a full queue, a closed store, a cancelled context), or it may have been done; repeat it later, a create with the same [IdempotencyKey]
	CodeInternal            Code = "internal"             // 500: any other failure, such as damaged data; its details are for the log

	// Only HTTP has these.
	CodeMethodNotAllowed     Code = "method_not_allowed"     // 405
	CodeRequestTimeout       Code = "request_timeout"        // 408: the body did not arrive in time
	CodeBodyTooLarge         Code = "body_too_large"         // 413
	CodeUnsupportedMediaType Code = "unsupported_media_type" // 415
)

// Error is an error that means something to the caller.
type Error struct {
	Code    Code
	Message string // for a person, names what is at fault; safe to show to a client
	Err     error  // the cause, for logs only; nil if there is none
}

// Errorf returns an [*Error] with a formatted message and no cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message, and the cause if there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [*Error] in err's tree. An error
// without one is [CodeUnavailable] if it is a context's and [CodeInternal]
// otherwise; nil has the empty code.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return CodeUnavailable
	}
	return CodeInternal
}

// Errors of every store.
var (
	ErrNotFound            = Errorf(CodeNotFound, "no pet has this id")
	ErrIdempotencyMismatch = Errorf(CodeIdempotencyMismatch, "the idempotency key was used before with another value")
	ErrQueueFull           = Errorf(CodeUnavailable, "the message queue is full")
)
