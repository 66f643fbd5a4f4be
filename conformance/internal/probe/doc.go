// Package probe has the HTTP exchanges of a conformance run. A [Client] sends a [Request] to
// the target and records the [Exchange], with the response as it came. [Exchange.JSON],
// [ReadPet], [ReadList] and others read what is in it. A [Redactor] hides the API key in what
// is printed.
package probe
