package etcdstore_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// logged returns a condition for [etcd.Eventually]: the log contains text.
func logged(log *process.Output, text string) func() error {
	return func() error {
		if !strings.Contains(log.String(), text) {
			return fmt.Errorf("the log is\n%swant %s", log.String(), text)
		}
		return nil
	}
}

// The log has one line about the start and one about each change in the state of
// an endpoint, even of one that the store does not use.
func TestEndpointStates(t *testing.T) {
	prefix, lost := newPrefix(t), strings.Replace(endpoint, "127.0.0.1", "localhost", 1)
	open(t, etcdstore.Config{Prefix: prefix})
	var log process.Output
	var gone atomic.Bool
	wrong := "http://" + etcd.FreeAddress()
	s := open(t, etcdstore.Config{
		Endpoints: []string{endpoint, lost, wrong},
		Prefix:    prefix,
		Logger:    slog.New(slog.NewTextHandler(&log, nil)),
	}.Intercepted(func(endpoint string, _ any, send func() error) error {
		if gone.Load() && strings.Contains(endpoint, "localhost") {
			return status.Error(codes.Unavailable, "it is gone")
		}
		return send()
	}))
	for _, want := range []string{`msg="the store is open" cluster=`, " prefix=" + prefix, " pets=0", endpoint + "=responds", lost + "=responds", wrong + `="does not respond: `, "connection refused"} {
		if err := logged(&log, want)(); err != nil {
			t.Error(err)
		}
	}
	gone.Store(true)
	etcd.Eventually(t, "the loss is logged", logged(&log, "url="+lost+` state="does not respond: `))
	gone.Store(false)
	etcd.Eventually(t, "the return is logged", logged(&log, "url="+lost+" state=responds"))
	if n := strings.Count(log.String(), "\n"); n != 3 {
		t.Errorf("the log has %d lines, want 3:\n%s", n, log.String())
	}
	all := s.Endpoints()
	if len(all) != 3 || all[0].State != "responds" || all[0].Calls == 0 || all[0].Failed > 0 || all[0].Seconds == 0 || all[2].URL != wrong || all[2].Failed == 0 {
		t.Errorf("%+v", all)
	}
}
