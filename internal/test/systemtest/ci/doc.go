// Package ci tests what docs/conformance.md offers for CI: the action, which is in
// .github/actions/conformance, the workflow that uses it, and the shell script.
package ci
