package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// DefaultMaxBodyBytes is the size limit of a request's body, in bytes, unless
// [Options] give another.
const DefaultMaxBodyBytes = 1 << 20

// Options are the settings of a handler. The zero value and nil are ready for
// use. Its functions are called from many goroutines at once.
type Options struct {
	// Encoded answers the reads instead of the Service, when the store can
	// give pets in their wire form. It must give what the Service would:
	// it is an option of its own, rather than looked for in the Service, so
	// that a Service that wraps a store is never bypassed. nil: the results
	// of Service are encoded. New only.
	Encoded petstore.EncodedReader

	// Logger receives every panic and every response of 500 and above, with
	// the details that the client does not see. Of equal responses above 500
	// it receives the first, and then their number every ten seconds. nil:
	// nothing is logged.
	Logger *slog.Logger

	// MaxBodyBytes is the size limit of a request's body, in bytes. 0 or
	// less: DefaultMaxBodyBytes. If a body is not used, up to four times as
	// many bytes of it are read and discarded: see DiscardBody.
	MaxBodyBytes int64

	// MaxResponseBytes limits how many bytes of responses larger than 64 kB
	// are in flight, for all handlers in the process together. Once there are
	// that many, a request for another is refused with 503 before anything is
	// stored. Smaller responses are neither counted nor refused. 0 or less:
	// DefaultMaxResponseBytes.
	MaxResponseBytes int64

	// Validate adds rules to those of the contract: it is called with every
	// pet about to be created, after the contract's own rules, with a
	// context that has the Principal. An error of petstore.CodeInvalid (or
	// of another code) is answered as such; one without a code is a failure
	// of the hook, answered with 500. A repeated creation is asked about
	// again before it is known for one: a rule must not count. nil: no more
	// rules. New only.
	Validate func(context.Context, petstore.NewPet) error

	// Observe is called once for every request, after its answer. nil: no
	// one is told.
	Observe func(context.Context, Observation)

	// Deprecation is since when GET /pets/{petId} is deprecated, as its
	// Deprecation header field says, in whole seconds (RFC 9745). It must not
	// be later than the sunset date, 5 December 2030. The contract gives no
	// date. Zero: 2026-11-20. New only.
	Deprecation time.Time

	// SunsetGone has GET /pets/{petId} answered with 410 from the sunset date
	// on, 2030-12-05 00:00 UTC. false: it goes on working. New only.
	SunsetGone bool

	// Now tells the time, for SunsetGone. nil: time.Now.
	Now func() time.Time
}

// withDefaults returns a copy of o that has no zero field left whose meaning
// is something else.
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

// handler is what New and NewMessages have in common: everything but the
// operations themselves.
type handler struct {
	auth      Authenticator
	opts      Options
	resources []resource
	repeats   repeats
}

// New returns the handler of the three operations on pets: GET and POST
// /pets, and GET /pets/{petId} (contract, sections 4.1 to 4.3). auth checks
// the credential of every request for one. It also serves the description of
// the interface, [OpenAPI], at /openapi.json. opts may be nil. New panics
// without a service or an authenticator.
func New(service petstore.Service, auth Authenticator, opts *Options) http.Handler {
	if service == nil || auth == nil {
		panic("httpapi: New needs a petstore.Service and an Authenticator")
	}
	o := opts.withDefaults()
	return &handler{auth: auth, opts: o, resources: append(newPets(service, o).resources(), descriptionResource())}
}

// NewMessages returns the handler of POST /messages (contract, section 4.4).
// auth checks the credential of every request. opts may be nil. NewMessages
// panics without a queue or an authenticator.
func NewMessages(queue petstore.Messages, auth Authenticator, opts *Options) http.Handler {
	if queue == nil || auth == nil {
		panic("httpapi: NewMessages needs a petstore.Messages and an Authenticator")
	}
	return &handler{auth: auth, opts: opts.withDefaults(), resources: messages{queue}.resources()}
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r)
	DiscardBody(w, r, h.opts.MaxBodyBytes) // after serve has freed its buffer
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	x := newExchange(h, w, r)
	defer x.end()
	if err := h.answer(x); err != nil {
		x.refuse(err)
	}
}

// answer takes a request through the checks that all operations share, in
// the order that package documentation promises, and on to its operation. An
// error means that nothing has been sent.
func (h *handler) answer(x *exchange) error {
	res, param := h.match(x.r.URL)
	if res == nil {
		return errNoPath
	}
	op := res.operation(x.r.Method)
	if op == nil {
		x.w.Header()["Allow"] = []string{res.allow}
		must := "must be "
		if strings.Contains(res.allow, ",") {
			must += "one of "
		}
		return petstore.Errorf(CodeMethodNotAllowed, "method: %s%s", must, res.allow)
	}
	x.op, x.param = op, param
	x.r.Pattern = op.pattern // as http.ServeMux does, for middleware
	if op.before != nil {
		op.before(x.w.Header())
	}
	if !op.public {
		if err := x.authenticate(); err != nil {
			return err
		}
	}
	return op.do(x)
}
