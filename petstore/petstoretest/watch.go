package petstoretest

import "testing"

// watcher finds what the client gets wrong.
type watcher struct{}

func newWatcher([]difficulty) *watcher { return &watcher{} }

// see is called with each exchange.
func (*watcher) see(exchange) {}

// report reports the findings to a test.
func (*watcher) report(testing.TB) {}
