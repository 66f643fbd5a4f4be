// Package report tests the HTML report of the conformance suite in a browser.
package report
