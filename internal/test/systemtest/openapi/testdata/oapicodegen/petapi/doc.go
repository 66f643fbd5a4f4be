// Package petapi is generated.
package petapi
