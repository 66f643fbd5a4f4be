// Package report opens the conformance suite's HTML report in a browser and
// uses it as a person would.
package report
