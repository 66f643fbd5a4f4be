// Package openapi tests the OpenAPI document: a validator accepts it, the handler
// does what it says, and generated clients work.
package openapi
