package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/internal/loglimit"
	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
)

// Options are the settings of a handler. The zero value and nil are ready for
// use. Its functions and interfaces are called from many goroutines at once.
type Options struct {
	// Messages makes the handler serve POST /messages. nil: that path is 404.
	Messages petstore.Messages

	// Logger receives responses of 500 and above, with the details that the client does
	// not see. Responses to clients that went away are not logged.
	//
	// Nor is a 503 logged that only asks the client to come back later: of a petstore.Error
	// without Err, or of a context. At most ten lines are logged in a second. nil: nothing is logged.
	Logger *slog.Logger

	// MaxBodyBytes is the size limit of a request's body, in bytes. 0: 64 KiB.
	MaxBodyBytes int64

	// Validate adds rules to those of the contract. It is called with each valid pet
	// before the create; its context has the account. The client gets the code of its
	// error, such as petstore.CodeInvalid; an error without a code is a 500, or a 503
	// if it is a context's. It is called again when a create is repeated, so it must
	// have no side effects. A rule that depends on state, such as a count or what else is
	// stored, belongs in a store of your own, after it has looked up the IdempotencyKey. A
	// service that embeds a store and overrides CreatePet, under a lock, may refuse to repeat
	// what it has created. nil: no further rules.
	Validate func(context.Context, petstore.NewPet) error

	// Observe is called once for every request that reaches the handler, after its
	// response. It must not panic. nil: nothing is called.
	Observe func(*http.Request, Observation)
}

// Observation is what Options.Observe receives about a request. It contains
// nothing of a credential.
type Observation struct {
	Operation string        // the contract's name, such as "listPets", or "openapi"; "": there is none (404, 405)
	Status    int           // of the response; 0: none was sent and the connection was closed
	Bytes     int           // of the response's body
	Duration  time.Duration // from the call of the handler to the end of the response
	Account   string        // for which the request was made; "": no credential was accepted
	RequestID string        // the X-Request-ID of the response
}

// handler serves operations.
type handler struct {
	service    petstore.Service
	pets       petjson.Reader // reads pets of service as JSON
	auth       Authenticator
	opts       Options
	operations []operation
	limit      loglimit.Limit
}

// New returns the handler of GET and POST /pets, GET /pets/{petId} (contract,
// sections 4.1 to 4.3) and, with Options.Messages, POST /messages (section
// 4.4). Without a service it serves the messages alone, for a base address of their own.
// auth checks the credential of every such request that has no account
// ([WithAccount]); if auth is nil, such a request gets 401. The handler also serves the
// [OpenAPI] document at /openapi.json. opts may be nil. New panics without a service and
// messages.
func New(service petstore.Service, auth Authenticator, opts *Options) http.Handler {
	h := &handler{service: service, auth: auth}
	if opts != nil {
		h.opts = *opts
	}
	if service == nil && h.opts.Messages == nil {
		panic("httpapi: New needs a petstore.Service, Options.Messages, or both")
	}
	if service != nil {
		h.pets = petjson.ReaderOf(service)
		h.operations = append(h.operations, listPets, createPet, getPet)
	}
	if h.opts.Messages != nil {
		h.operations = append(h.operations, submitMessage)
	}
	h.operations = append(h.operations, openAPI)
	for i := range h.operations {
		op := &h.operations[i]
		op.method, op.path, _ = strings.Cut(op.pattern, " ")
		op.path, _, _ = strings.Cut(op.path, "{")
	}
	if h.opts.Logger == nil {
		h.opts.Logger = slog.New(slog.DiscardHandler)
	}
	h.opts.MaxBodyBytes = cmp.Or(h.opts.MaxBodyBytes, 64<<10)
	return h
}

// call is a request on its way to its response. It is the context of all that the handler
// calls for the request: that of the request, with the call itself for RequestID and, once it
// is known, the account.
type call struct {
	context.Context
	h      *handler // nil: of WriteError
	w      http.ResponseWriter
	r      *http.Request
	id     string // X-Request-ID
	random bool   // neither a middleware nor the client chose it
	start  time.Time
	seen   Observation // so far
}

// callKey is the key of the call in its context.
type callKey struct{}

// Value implements [context.Context].
func (c *call) Value(key any) any {
	switch {
	case key == callKey{}:
		return c
	case key == accountKey{} && c.seen.Account != "":
		return c.seen.Account
	}
	return c.Context.Value(key)
}

// response is what an operation returns.
type response struct {
	status int
	body   []byte
	header headerField // one more field of the header; its name is "" if there is none
	free   func()      // is called when body is no longer needed; nil: nothing is
}

// jsonType is shared by all responses.
var jsonType = []string{"application/json"}

// ServeHTTP implements [http.Handler]. It makes the checks that all operations share, in the
// order that the package documentation promises, calls the operation, and sends what that
// returns.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Context: r.Context(), h: h, w: w, r: r, start: time.Now()}
	c.id, c.random = requestID(w, r)
	defer c.end()

	op, err := h.route(w, r)
	if err != nil {
		c.fail(err)
		return
	}
	c.seen.Operation = op.name
	r.Pattern = op.pattern // as http.ServeMux does, for middleware
	for _, f := range op.header {
		w.Header()[f.name] = f.values
	}
	if !op.public {
		c.seen.Account, err = h.authenticate(c, r.Header)
		if err != nil {
			c.fail(err)
			return
		}
	}
	resp, err := op.do(h, c, r)
	if err != nil {
		c.fail(err)
		return
	}
	c.send(resp)
	failed := c.seen.Bytes < len(resp.body) && r.Method != http.MethodHead
	if resp.free != nil && !failed { // after a failed write, net/http may still use the body
		resp.free()
	}
}

// fail responds with err.
func (c *call) fail(err error) {
	body := errorBodyOf(err)
	// net/http cancels the request's context when the connection is lost.
	gone := errors.Is(err, context.Canceled) && errors.Is(c.Err(), context.Canceled)
	e, ok := errors.AsType[*petstore.Error](err)
	busy := body.Status == http.StatusServiceUnavailable && (!ok || e.Err == nil)
	if body.Status >= http.StatusInternalServerError && !gone && !busy {
		c.log(body, err)
	}
	c.send(errorResponse(c.w, body))
}

// log logs err, whose response has body. It does not log the query, which may hold
// secrets.
func (c *call) log(body errorBody, err error) {
	if c.h.limit.Allow() {
		c.h.opts.Logger.ErrorContext(c, "request failed", "request_id", c.id, "operation", c.seen.Operation,
			"method", c.r.Method, "path", request.Path(c.r), "account", c.seen.Account, "status", body.Status, "code", body.Code, "err", err)
	}
}

// send sends a whole response. A failed write means that the client is gone. net/http
// sets Content-Length by itself for small bodies only, and not for HEAD, whose response has no
// body.
func (c *call) send(resp response) {
	c.seen.Status = resp.status
	header := c.w.Header()
	if !c.random || resp.status >= 400 || c.h.opts.Observe != nil {
		header[requestIDField] = []string{c.id}
	}
	if resp.header.name != "" {
		header[resp.header.name] = resp.header.values
	}
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(resp.body))}
	c.w.WriteHeader(resp.status)
	if c.r.Method != http.MethodHead {
		c.seen.Bytes, _ = c.w.Write(resp.body)
	}
}

// end is deferred around all work on the call, so that it runs after a
// panic too. If the panic leaves part of a response, end closes the connection,
// so that it does not look like all of it.
func (c *call) end() {
	v := recover()
	abort := v == http.ErrAbortHandler
	if v != nil && !abort {
		err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		if abort = c.seen.Status != 0; abort {
			c.log(errorBodyOf(err), err)
		} else {
			c.fail(err)
		}
	}
	if c.h.opts.Observe != nil {
		c.seen.Duration = time.Since(c.start)
		c.seen.RequestID = c.id
		c.h.opts.Observe(c.r, c.seen)
	}
	if abort {
		panic(http.ErrAbortHandler)
	}
	request.Discard(c.r)
}
