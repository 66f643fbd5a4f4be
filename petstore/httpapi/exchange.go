package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// maxPooledBytes is how large a buffer may be to be kept for the next
// request. A page of a hundred pets with ordinary names is a tenth of it.
const maxPooledBytes = 64 << 10

// exchange is one request on its way to its answer.
type exchange struct {
	h     *handler
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context // the request's, with the principal once it is known
	start time.Time       // zero unless someone observes
	id    string          // see requestID

	op        *operation // nil: none was reached
	param     string     // the path's parameter
	principal string

	status   int           // 0: nothing has been sent
	code     petstore.Code // of the error sent; "": none
	bytes    int           // of the body sent
	canceled bool          // the request's context was, before there was an answer

	// buf holds the request's body, and then the response's.
	buf      []byte
	reserved int64 // see reserve
	building bool  // see enter
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange(h *handler, w http.ResponseWriter, r *http.Request) *exchange {
	x := exchanges.Get().(*exchange)
	*x = exchange{h: h, w: w, r: r, ctx: r.Context(), id: requestID(w, r), buf: x.buf[:0]}
	if h.opts.Observe != nil {
		x.start = time.Now()
	}
	return x
}

// end is deferred around all work on the exchange: what remains to be done
// happens here, after a panic too.
func (x *exchange) end() {
	x.leave()
	if x.reserved > 0 {
		inFlight.Add(-x.reserved)
	}
	if v := recover(); v != nil {
		abort := x.recovered(v)
		x.observe()
		if abort {
			// Half an answer must not pass for a whole one.
			panic(http.ErrAbortHandler)
		}
		return // whoever panicked may still hold the buffer: it is not pooled
	}
	x.observe()
	x.dropLarge()
	*x = exchange{buf: x.buf[:0]}
	exchanges.Put(x)
}

// dropLarge drops a buffer that is too large to be pooled.
func (x *exchange) dropLarge() {
	if cap(x.buf) > maxPooledBytes {
		x.buf = nil
	}
}

// recovered deals with a panic, and reports whether the connection has to be
// cut.
func (x *exchange) recovered(v any) (abort bool) {
	if v == http.ErrAbortHandler {
		return true
	}
	x.logPanic(v)
	if x.status != 0 {
		return true
	}
	x.sendError(errPanic)
	return false
}

// reply sends the answer of an operation that made body, in x.buf as a rule,
// or failed with err.
func (x *exchange) reply(status int, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.buf = body
	x.status = status
	x.bytes = writeJSON(x.w, x.r, status, body)
	return nil
}

// refuse answers with err, and logs it if the fault is ours.
func (x *exchange) refuse(err error) {
	x.canceled = isCanceled(x.r.Context(), err)
	x.logFailure(err)
	x.sendError(err)
}

func (x *exchange) sendError(err error) {
	x.dropLarge() // the client may be slow to read even the error
	o := outcomeOf(err)
	x.status, x.code = o.status, o.code
	x.bytes = writeError(x.w, x.r, o)
}
