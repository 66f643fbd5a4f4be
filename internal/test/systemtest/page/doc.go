// Package page tests the web page of the reference server in a browser.
package page
