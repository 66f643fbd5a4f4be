package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// DefaultMaxBodyBytes is the size limit of a request's body, in bytes, unless
// [Options] set another.
const DefaultMaxBodyBytes = 64 << 10

// Options are the settings of a handler. The zero value and nil are ready for
// use. Its functions and interfaces are called from many goroutines at once.
type Options struct {
	// Messages makes the handler of New serve POST /messages too. nil: that
	// path is 404. NewMessages ignores it.
	Messages petstore.Messages

	// Logger receives at most ten responses of 500 and above in a second, with the
	// details that the client does not see; but not those to clients that went
	// away. The level is ERROR for a 500, and when an outage begins: a full disk (507) or
	// a lost database (503). For the further 507 and 503 it is WARN. A line of the level
	// INFO says that the outage is over. nil: nothing is logged.
	Logger *slog.Logger

	// MaxBodyBytes is the size limit of a request's body, in bytes. 0 or
	// less: DefaultMaxBodyBytes.
	MaxBodyBytes int64

	// Validate adds rules to those of the contract. It is called with every
	// pet that is about to be created and keeps the contract's rules, and
	// with a context that has the Principal. The client gets the code of its
	// error, such as petstore.CodeInvalid; an error without a code is a 500.
	// Validate is also called for a create that repeats an Idempotency-Key,
	// so it must not count. nil: no further rules. NewMessages ignores it.
	Validate func(context.Context, petstore.NewPet) error

	// Observe is called once for every request, after its response. It must not
	// panic. nil: nothing is called.
	Observe func(*http.Request, Observation)
}

// handler serves operations.
type handler struct {
	service    petstore.Service
	encoded    petstore.EncodedReader // of service; nil: it has none
	auth       Authenticator
	opts       Options
	operations []operation
	logged     logLimit
	outage     atomic.Pointer[outage] // nil: there is none
}

// New returns the handler of GET and POST /pets, GET /pets/{petId} (contract,
// sections 4.1 to 4.3) and, with Options.Messages, POST /messages (section
// 4.4). auth checks the credential of every such request that has no principal
// ([WithPrincipal]); if auth is nil, such a request gets 401. The handler also serves the
// OpenAPI document ([OpenAPI]) at /openapi.json. opts may be nil. New panics without a
// service.
func New(service petstore.Service, auth Authenticator, opts *Options) http.Handler {
	if service == nil {
		panic("httpapi: New needs a petstore.Service")
	}
	h := newHandler(auth, opts, listPets, createPet, getPet, openAPI)
	if h.opts.Messages != nil {
		h.operations = append(h.operations, submitMessage)
	}
	h.service = service
	if e, ok := service.(petstore.EncodedReader); ok && e.Encodes(service) {
		h.encoded = e
	}
	return h
}

// NewMessages returns the handler of POST /messages alone, for a base address
// of its own (contract, section 4.4). auth is as for New. opts may be nil. NewMessages
// panics without a queue.
func NewMessages(queue petstore.Messages, auth Authenticator, opts *Options) http.Handler {
	if queue == nil {
		panic("httpapi: NewMessages needs a petstore.Messages")
	}
	h := newHandler(auth, opts, submitMessage)
	h.opts.Messages = queue
	return h
}

func newHandler(auth Authenticator, opts *Options, operations ...operation) *handler {
	h := &handler{auth: auth, operations: operations}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Logger == nil {
		h.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if h.opts.MaxBodyBytes <= 0 {
		h.opts.MaxBodyBytes = DefaultMaxBodyBytes
	}
	return h
}

// exchange is a request on its way to its response.
type exchange struct {
	h     *handler
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context // the request's, with the principal once it is known
	start time.Time

	requestID string
	operation string          // its name; "": none was reached
	param     string          // the path's parameter
	principal string          // "": not known
	status    int             // of the response; 0: none was sent
	code      petstore.Code   // of its Error body; "": success
	written   int             // bytes of its body
	large     bool            // see serveRead
	pooled    *[16 << 10]byte // see buffers
}

// response is what an operation returns.
type response struct {
	status int
	body   []byte
}

// acceptsKeys says in every response that creations with an Idempotency-Key may be
// repeated. A client can believe that of a server that it knows nothing else about.
// The value is true, as a Boolean of RFC 9651. All responses share it and jsonType,
// which saves two allocations for each.
var acceptsKeys, jsonType = []string{"?1"}, []string{"application/json"}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{h: h, w: w, r: r, ctx: r.Context(), start: time.Now()}
	w.Header()["Accept-Idempotency-Key"] = acceptsKeys
	x.requestID = requestID(w, r)
	defer x.end()
	resp, err := x.do()
	if err != nil {
		x.fail(err)
		return
	}
	x.send(resp)
	x.succeeded()
	if x.pooled != nil && x.written == len(resp.body) { // after a failed write, net/http may still use it
		buffers.Put(x.pooled)
	}
}

// do takes the request through the checks that all operations share, in the
// order that the package documentation promises, and calls its operation. It
// sends nothing.
func (x *exchange) do() (response, error) {
	op, err := x.route()
	if err != nil {
		return response{}, err
	}
	x.operation = op.name
	x.r.Pattern = op.pattern // as http.ServeMux does, for middleware
	for name, values := range op.header {
		x.w.Header()[name] = append(x.w.Header()[name], values...)
	}
	if !op.public {
		if x.principal, err = Authenticate(x.ctx, x.h.auth, x.r.Header); err != nil {
			return response{}, err
		}
		x.ctx = context.WithValue(x.ctx, principalKey{}, &x.principal)
	}
	return op.do(x)
}

// fail responds with err.
func (x *exchange) fail(err error) {
	body := errorBodyOf(err)
	x.code = body.Code
	// net/http cancels the request's context when the connection is lost.
	gone := errors.Is(err, context.Canceled) && errors.Is(x.ctx.Err(), context.Canceled)
	if body.Status >= http.StatusInternalServerError && !gone {
		x.log(body, err)
	}
	x.send(errorResponse(x.w, x.r, body))
}

// send sends a whole response. A failed write means that the client is gone. net/http
// sets Content-Length by itself for small bodies only, and never for HEAD.
func (x *exchange) send(resp response) {
	x.status = resp.status
	x.w.Header()["Content-Type"] = jsonType
	x.w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
	x.w.WriteHeader(resp.status)
	if x.r.Method != http.MethodHead {
		x.written, _ = x.w.Write(resp.body)
	}
}

// end is deferred around all work on the exchange, so that it runs after a
// panic too. If the panic leaves part of a response, end closes the connection,
// so that it does not look like all of it.
func (x *exchange) end() {
	v := recover()
	if x.large {
		<-large
	}
	abort := v == http.ErrAbortHandler
	if v != nil && !abort {
		err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		if abort = x.status != 0; abort {
			x.log(errorBodyOf(err), err)
		} else {
			x.fail(err)
		}
	}
	if x.h.opts.Observe != nil {
		x.h.opts.Observe(x.r, Observation{Operation: x.operation, Status: x.status, Code: x.code, Duration: time.Since(x.start), Principal: x.principal})
	}
	if abort {
		panic(http.ErrAbortHandler)
	}
	DiscardBody(x.r)
}

// requestID returns the ID that connects a response with its log lines, and
// puts it into the response's header. It is the ID that middleware has put
// there, otherwise the client's if that is safe to log and send back, otherwise
// a random one. What is safe needs no quoting anywhere: letters, digits and the
// signs of UUIDs, trace IDs and base64.
func requestID(w http.ResponseWriter, r *http.Request) string {
	const field = "X-Request-Id" // in canonical form, which http.Header finds without a copy
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+="
	id := w.Header().Get(field)
	if id == "" {
		if id = r.Header.Get(field); id == "" || len(id) > 128 || len(r.Header[field]) > 1 || strings.Trim(id, safe) != "" {
			id = rand.Text()
		}
		w.Header().Set(field, id)
	}
	return id
}
