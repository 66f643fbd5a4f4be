package scenario

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
)

// Each server is conformant, and so is a balancer that sends the requests to all
// servers in turn.
func TestConformance(t *testing.T) {
	c := newCluster(t, 3, local.Direct)
	var targets []*url.URL
	for _, s := range c.Servers {
		u, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		u.Path = ""
		targets = append(targets, u)
	}
	var next atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(targets[int(next.Add(1))%len(targets)])
			r.Out.Host = r.In.Host
		},
	})
	defer balancer.Close()
	judge := func(name, base string) {
		t.Run(name, func(t *testing.T) {
			result, err := conformance.Run(t.Context(), conformance.Target{URL: base, MessagesURL: base, Key: c.Key}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(result.Headline())
			if !result.Passed() {
				_ = report.Write(os.Stderr, result, report.Text, nil)
				t.Fail()
			}
		})
	}
	for i, s := range c.Servers {
		judge("server"+string(rune('1'+i)), s.URL())
	}
	judge("balancer", balancer.URL+"/v1")
}
