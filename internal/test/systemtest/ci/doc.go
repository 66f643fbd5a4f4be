// Package ci tests what docs/conformance.md says about CI: the action, which is in
// .github/actions/conformance, the workflow, and the shell script.
package ci
