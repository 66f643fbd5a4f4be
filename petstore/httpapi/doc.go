// Package httpapi serves the contract over HTTP: the pets of a
// [petstore.Service] with [New], and message submission to a
// [petstore.Messages] with [NewMessages].
//
// Both return a plain [http.Handler] that routes on the request's URL.Path
// alone: /pets, /pets/{petId} and, for the description of the interface,
// /openapi.json; and /messages. To mount one under a prefix, take the prefix
// off first, without its last slash:
//
//	http.Handle("/v1/", http.StripPrefix("/v1", handler))
//
// All links in answers are relative, so that they are right under any prefix
// and behind any proxy. The handlers never redirect: a path that is not
// exactly one of theirs is answered with 404. A router in front that cleans
// paths or answers some methods itself does so before they see the request.
//
// A request is checked in this order: path (404), method (405), credential
// (401), parameters and body (400, 413, 415), and then the operation is
// carried out. Every response of 400 and above has an Error body (contract,
// section 2.5); [WriteError] lets the server around a handler respond in the
// same form. Every response has an X-Request-ID. It is complete before its
// first byte is sent, and has a Content-Length.
//
// The limits on time and on the size of a request's header are the
// [http.Server]'s: set its timeouts and MaxHeaderBytes. ReadTimeout also limits
// how long the body of a refused request is read: see [DiscardBody].
package httpapi
