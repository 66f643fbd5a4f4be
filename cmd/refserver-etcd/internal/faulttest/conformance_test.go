//go:build linux

package faulttest

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
)

// Each server is conformant, and so is a balancer that sends the requests to all
// servers in turn.
func TestConformance(t *testing.T) {
	c := newCluster(t, 3, "--heartbeat-interval=500", "--election-timeout=5000")
	var next atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			s := c.servers[int(next.Add(1))%len(c.servers)]
			r.SetURL(&url.URL{Scheme: "http", Host: s.Host()})
			r.Out.Host = r.In.Host
		},
	})
	defer balancer.Close()
	targets := map[string]string{"balancer": balancer.URL + "/v1"}
	for i, s := range c.servers {
		targets[fmt.Sprint("server", i)] = s.URL
	}
	for name, url := range targets {
		t.Run(name, func(t *testing.T) {
			conformancetest.Run(t, conformance.Target{URL: url, MessagesURL: url, Key: c.servers[0].Key}, nil)
		})
	}
}
