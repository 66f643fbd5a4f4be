// Package openapi tests the OpenAPI document with a validator and with
// generators: that the document and the handler agree, and that generated code
// works.
package openapi
