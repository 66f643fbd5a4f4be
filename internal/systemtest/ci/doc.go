// Package ci tests what docs/conformance-ci.md says: the action of GitHub, which is
// in .github/actions/conformance, and the shell script.
package ci
