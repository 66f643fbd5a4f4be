package refserver

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/internal/process"
)

// A server whose cluster is replaced by another one ends, without advice about a
// file. Until then it counts the calls to each endpoint.
func TestOtherCluster(t *testing.T) {
	var to atomic.Value
	to.Store(newMember(t))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var present atomic.Pointer[net.Conn]
	go func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			present.Store(&from)
			go func() {
				defer from.Close()
				member, err := net.Dial("tcp", strings.TrimPrefix(to.Load().(string), "http://"))
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(member, from); member.Close() }()
				_, _ = io.Copy(from, member)
			}()
		}
	}()
	url := "http://" + ln.Addr().String()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver-etcd")
	server := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0", "-new-store", "-etcd="+url))
	vars := server.Must(http.StatusOK, "GET", server.Admin+"/debug/vars", "").Body
	if !strings.Contains(vars, `"endpoints": [{"url":"`+url+`","state":"responds","calls":`) {
		t.Errorf("%s", vars)
	}
	to.Store(newMember(t))
	(*present.Load()).Close()
	if code := server.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := server.Stderr.String(); !strings.Contains(log, url+" leads to another cluster") || strings.Contains(log, "start the server again") {
		t.Errorf("the log is\n%s", log)
	}
}
