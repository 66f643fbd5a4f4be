package conformance

// RunAndRepeat is Run with a limit for the time in which failures are repeated.
var RunAndRepeat = run
