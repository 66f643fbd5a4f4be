// Etcd runs a member of a cluster, for the trial and for tests. Started under
// the name etcdctl or etcdutl, it is that tool.
package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "etcdctl":
		ctlv3.MustStart()
	case "etcdutl":
		tool := &cobra.Command{Use: "etcdutl"}
		tool.PersistentFlags().StringVarP(&etcdutl.OutputFormat, "write-out", "w", "simple", "output format")
		tool.AddCommand(etcdutl.NewSnapshotCommand())
		if tool.Execute() != nil {
			os.Exit(1)
		}
	default:
		if in, err := os.Stdin.Stat(); err == nil && in.Mode()&os.ModeNamedPipe != 0 {
			go endWithParent()
		}
		etcdmain.Main(os.Args)
	}
}

// endWithParent ends the process when its standard input ends, a pipe of which
// the process that started it holds the other end and never writes to it.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
