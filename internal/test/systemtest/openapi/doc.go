// Package openapi tests the OpenAPI document: a validator accepts it, and the handler
// does what it says, and no more.
package openapi
