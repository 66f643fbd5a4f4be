package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// DefaultMaxBodyBytes is the size limit of a request's body, in bytes, unless
// [Options] set another.
const DefaultMaxBodyBytes = 1 << 20

// Options are the settings of a handler. The zero value and nil are ready for
// use. Its functions and interfaces are called from many goroutines at once.
type Options struct {
	// Messages makes the handler of New serve POST /messages too. nil: that
	// path is 404. NewMessages ignores it.
	Messages petstore.Messages

	// Encoded serves the reads instead of the Service, for a store that keeps
	// pets as JSON. It must return what the Service would. It is a separate
	// option, never found by looking into the Service, so that a Service that
	// wraps a store is never bypassed. nil: the results of the Service are
	// encoded. NewMessages ignores it.
	Encoded petstore.EncodedReader

	// Logger receives every panic and every response of 500 and above, with
	// the details that the client does not see. Of equal responses above 500
	// it receives the first, and then their number every ten seconds. nil:
	// nothing is logged.
	Logger *slog.Logger

	// MaxBodyBytes is the size limit of a request's body, in bytes. 0 or
	// less: DefaultMaxBodyBytes. Of a body that is not used, up to four times
	// as many bytes are read and discarded: see DiscardBody.
	MaxBodyBytes int64

	// MaxResponseBytes limits how many bytes of responses larger than 64 KiB
	// are in flight, for all handlers in the process together. At the limit,
	// another request for one gets 503, before anything is stored. Smaller
	// responses are neither counted nor refused. 0 or less:
	// DefaultMaxResponseBytes.
	MaxResponseBytes int64

	// Validate adds rules to those of the contract. It is called with every
	// pet that is about to be created and keeps the contract's rules, and
	// with a context that has the Principal. The client gets the code of its
	// error, such as petstore.CodeInvalid; an error without a code is a 500.
	// Validate is also called for a create that repeats an Idempotency-Key,
	// so it must not count. nil: no further rules. NewMessages ignores it.
	Validate func(context.Context, petstore.NewPet) error

	// Observe is called once for every request, after its response. nil:
	// nothing is called.
	Observe func(context.Context, Observation)

	// Deprecation is the date since which GET /pets/{petId} is deprecated, as
	// its Deprecation header field says, in whole seconds (RFC 9745). It must
	// not be later than the sunset date, 5 December 2030. The contract has no
	// date. Zero: 2026-11-20. NewMessages ignores it.
	Deprecation time.Time

	// SunsetGone makes GET /pets/{petId} respond with 410 from the sunset
	// date on, 2030-12-05 00:00 UTC. false: the operation is still served.
	// NewMessages ignores it.
	SunsetGone bool

	// Now returns the time, for SunsetGone. nil: time.Now.
	Now func() time.Time
}

// withDefaults returns a copy of o with its defaults filled in.
func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.MaxBodyBytes <= 0 {
		opts.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if opts.MaxResponseBytes <= 0 {
		opts.MaxResponseBytes = DefaultMaxResponseBytes
	}
	if opts.Deprecation.IsZero() {
		opts.Deprecation = time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return opts
}

// handler serves resources.
type handler struct {
	service     petstore.Service
	auth        Authenticator
	opts        Options
	resources   []resource
	deprecation []string // the values of the Deprecation field of getPet
	repeats     repeats
}

// New returns the handler of GET and POST /pets, GET /pets/{petId} (contract,
// sections 4.1 to 4.3) and, with Options.Messages, POST /messages (section
// 4.4). auth checks the credential of every such request. The handler also
// serves the OpenAPI document ([OpenAPI]) at /openapi.json. opts may be nil. New
// panics without a service or an authenticator.
func New(service petstore.Service, auth Authenticator, opts *Options) http.Handler {
	if service == nil || auth == nil {
		panic("httpapi: New needs a petstore.Service and an Authenticator")
	}
	h := &handler{service: service, auth: auth, opts: opts.withDefaults(), resources: []resource{petsResource, petResource, openAPIResource}}
	if h.opts.Encoded == nil {
		h.opts.Encoded = encoder{service}
	}
	if h.opts.Messages != nil {
		h.resources = append(h.resources, messagesResource)
	}
	h.deprecation = []string{"@" + strconv.FormatInt(h.opts.Deprecation.Unix(), 10)}
	return h
}

// NewMessages returns the handler of POST /messages alone, for a base address
// of its own (contract, section 4.4). auth checks the credential of every
// request. opts may be nil. NewMessages panics without a queue or an
// authenticator.
func NewMessages(queue petstore.Messages, auth Authenticator, opts *Options) http.Handler {
	if queue == nil || auth == nil {
		panic("httpapi: NewMessages needs a petstore.Messages and an Authenticator")
	}
	o := opts.withDefaults()
	o.Messages = queue
	return &handler{auth: auth, opts: o, resources: []resource{messagesResource}}
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r)
	DiscardBody(w, r, h.opts.MaxBodyBytes) // after serve has freed the response
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{h: h, w: w, r: r, ctx: r.Context(), start: time.Now(), id: requestID(w, r)}
	defer x.end()
	resp, err := x.do()
	if err != nil {
		x.refuse(err)
		return
	}
	x.send(resp)
	if x.bytes == len(resp.body) { // otherwise net/http may still use it
		x.recycle(resp.body)
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
		return response{}, petstore.Errorf(CodeMethodNotAllowed, "method: %s%s", must, res.allow)
	}
	x.op, x.param = op, param
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
