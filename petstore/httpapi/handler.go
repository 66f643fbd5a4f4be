package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
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

	// Logger receives every panic, and at most ten responses of 500 and above in
	// a second, with the details that the client does not see; but not those to
	// clients that went away. nil: nothing is logged.
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

	// Observe is called once for every request, after its response. nil:
	// nothing is called.
	Observe func(*http.Request, Observation)
}

// handler serves resources.
type handler struct {
	service   petstore.Service
	encoded   petstore.EncodedReader // of service
	auth      Authenticator
	opts      Options
	resources []resource
	logged    logLimit
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
	h := newHandler(auth, opts, petsResource, petResource, openAPIResource)
	if h.opts.Messages != nil {
		h.resources = append(h.resources, messagesResource)
	}
	h.service = service
	h.encoded = encoder{service}
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
	h := newHandler(auth, opts, messagesResource)
	h.opts.Messages = queue
	return h
}

func newHandler(auth Authenticator, opts *Options, resources ...resource) *handler {
	h := &handler{auth: auth, resources: resources}
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
	start time.Time       // zero unless someone observes

	op     *operation // nil: none was reached
	param  string     // the path's parameter
	seen   Observation
	large  bool            // see serveRead
	pooled *[16 << 10]byte // see buffer
}

// response is what an operation returns.
type response struct {
	status int
	body   []byte
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{h: h, w: w, r: r, ctx: r.Context()}
	w.Header()[acceptsKeysField] = acceptsKeys
	x.seen.RequestID = requestID(w, r, h.opts.Observe != nil)
	if h.opts.Observe != nil {
		x.start = time.Now()
	}
	x.serve()
	DiscardBody(r)
}

func (x *exchange) serve() {
	defer x.end()
	resp, err := x.do()
	if err != nil {
		x.seen.RequestID = requestID(x.w, x.r, true)
		// net/http cancels the request's context when the connection is lost.
		x.seen.Canceled = errors.Is(err, context.Canceled) && errors.Is(x.ctx.Err(), context.Canceled)
		x.logFailure(err)
		x.sendError(err)
		return
	}
	x.send(resp)
	if x.seen.Bytes == len(resp.body) { // after a failed write, net/http may still use it
		x.recycle()
	}
}

// do takes the request through the checks that all operations share, in the
// order that the package documentation promises, and calls its operation. It
// sends nothing.
func (x *exchange) do() (response, error) {
	res, param := x.h.match(x.r.URL)
	if res == nil {
		return response{}, errNoPath
	}
	op := res.operation(x.r.Method)
	if op == nil {
		x.w.Header().Set("Allow", res.allow)
		must := "must be "
		if strings.Contains(res.allow, ",") {
			must += "one of "
		}
		return response{}, petstore.Errorf(petstore.CodeMethodNotAllowed, "method: %s%s", must, res.allow)
	}
	x.op, x.param, x.seen.Operation = op, param, op.name
	x.r.Pattern = op.pattern // as http.ServeMux does, for middleware
	if op.deprecated {
		x.deprecate()
	}
	if !op.public {
		if err := x.authenticate(); err != nil {
			return response{}, err
		}
	}
	return op.do(x)
}

func (x *exchange) send(resp response) {
	x.seen.Status = resp.status
	x.seen.Bytes = writeResponse(x.w, x.r, resp)
}

func (x *exchange) sendError(err error) {
	body := errorBodyOf(err)
	x.seen.Code, x.seen.Message = body.Code, body.Message
	x.send(errorResponse(x.w, x.r, body))
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
		x.seen.RequestID = requestID(x.w, x.r, true)
		x.logPanic(v)
		if abort = x.seen.Status != 0; !abort {
			x.sendError(&petstore.Error{Code: petstore.CodeInternal})
		}
	}
	x.observe()
	if abort {
		panic(http.ErrAbortHandler)
	}
}
