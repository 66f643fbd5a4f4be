// Package httpapi serves the contract over HTTP. Start with [New]: it returns a
// plain [http.Handler] for the pets of a [petstore.Service] and, with
// Options.Messages, for the messages of a [petstore.Messages], or for these alone.
//
// The handler routes on the request's URL.Path alone: /pets, /pets/{petId},
// /messages and, for the OpenAPI document, /openapi.json. To mount it under a
// prefix, strip the prefix first, without its last slash:
//
//	http.Handle("/v1/", http.StripPrefix("/v1", handler))
//
// All links in responses are relative, so they are right under every prefix and
// behind every proxy. The handler never redirects: any other path is 404. A
// router in front that cleans paths or handles some methods itself does so
// before the handler sees the request. The program in examples/nethttp shows what
// net/http does, and examples/README.md says what other routers do.
//
// A request is checked in this order: path (404), method (405), credential
// (401), parameters and body (400, 408, 413, 415). Then the operation is carried
// out. Every response of 400 and above has an Error body (contract, section
// 2.5); with [WriteError] the server around the handler can respond in the same
// form. Every error has an X-Request-ID, which log lines have too; [RequestID] says when a
// success has one. A client can safely repeat a POST with the same Idempotency-Key and
// body. The handler builds a whole response before it sends it, with a Content-Length.
//
// Responses share the values of some header fields. Middleware may replace a field, but
// must not change its values in place.
//
// The [http.Server] limits times and the size of a request's header: set its timeouts and
// MaxHeaderBytes. ReadTimeout limits how long a handler waits for a body, and WriteTimeout
// ends a response that the client does not read. Until then a request holds up to
// Options.MaxBodyBytes of its body, and then its response: up to [petstore.MaxPageBytes]
// and one pet. Over HTTP/1 a connection has one request at a time. Over HTTP/2, which a
// server with TLS speaks by default, each stream of a connection has one, and a client may
// open 250: set HTTP2Config.MaxConcurrentStreams to a few, or Protocols to HTTP/1 only.
package httpapi
