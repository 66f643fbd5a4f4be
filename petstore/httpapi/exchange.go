package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"example.com/animalstore/petstore"
)

// exchange is a request on its way to its response.
type exchange struct {
	h     *handler
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context // the request's, with the principal once it is known
	start time.Time
	id    string // see requestID

	op        *operation // nil: none was reached
	param     string     // the path's parameter
	principal string

	status   int           // 0: nothing has been sent
	code     petstore.Code // of the error sent; "": none
	message  string        // of the error sent
	bytes    int           // of the body sent
	canceled bool          // see Observation
	reserved int64         // see reserve
	pooled   *[]byte       // see buffer
}

// response is what an operation returns.
type response struct {
	status int
	body   []byte // nil: none, and no header fields that describe one
}

// end is deferred around all work on the exchange, so that it runs after a
// panic too.
func (x *exchange) end() {
	inFlight.Add(-x.reserved)
	abort := false
	if v := recover(); v != nil {
		abort = x.recovered(v)
	}
	x.observe()
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// recovered handles a panic. It reports whether the connection must be closed,
// so that part of a response does not look like all of it.
func (x *exchange) recovered(v any) (abort bool) {
	if v == http.ErrAbortHandler {
		return true
	}
	x.logPanic(v)
	if x.status != 0 {
		return true
	}
	x.sendError(&petstore.Error{Code: petstore.CodeInternal})
	return false
}

func (x *exchange) send(resp response) {
	x.status = resp.status
	x.bytes = writeResponse(x.w, x.r, resp)
}

// refuse sends err, and logs it if the fault is the server's.
func (x *exchange) refuse(err error) {
	// net/http cancels the request's context when the connection is lost.
	x.canceled = errors.Is(err, context.Canceled) && errors.Is(x.r.Context().Err(), context.Canceled)
	x.logFailure(err)
	x.sendError(err)
}

func (x *exchange) sendError(err error) {
	o := outcomeOf(err)
	x.code, x.message = o.Code, o.Message
	x.send(errorResponse(x.w, x.r, o))
}
