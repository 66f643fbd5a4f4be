// Refserver-etcd serves the petstore from an etcd cluster.
// "refserver-etcd -h" lists its flags and commands.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage/etcdstore"
)

func main() {
	var c cluster
	p := serve.Program{
		Name:       "refserver-etcd",
		About:      "the petstore, kept in an etcd cluster, served over HTTP",
		StoreFlags: c.flags,
		Open: func(ctx context.Context, log *slog.Logger, _ bool, committed func(int, time.Duration)) (*serve.Store, error) {
			c.config.Committed = committed
			s, err := c.open(ctx, log)
			if err != nil {
				return nil, err
			}
			return &serve.Store{
				Backend: s,
				Ready:   s.Ready,
				Endpoints: func() (all []serve.Endpoint) {
					for _, e := range s.Endpoints() {
						all = append(all, serve.Endpoint{URL: e.URL, Up: e.State == etcdstore.Responds, Calls: e.Calls, Failed: e.Failed, Seconds: e.Seconds})
					}
					return all
				},
			}, nil
		},
		Commands: []flags.Command{importCommand()},
	}
	os.Exit(p.Main())
}
