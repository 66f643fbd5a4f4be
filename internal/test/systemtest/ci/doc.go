// Package ci tests the scripts that release and rename the module, the workflow of
// GitHub, and what docs/conformance.md says: the action, which is in
// .github/actions/conformance, and the shell script.
package ci
