package refserver

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
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
	cmd := exec.Command(os.Args[0], "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0", "-new-store", "-etcd="+url)
	cmd.Dir = t.TempDir()
	cmd.Env = process.Environ("REFSERVER_ETCD_TEST_RUN=1")
	server, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	a, err := server.Serving()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(a.Admin + "/debug/vars")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if vars, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(vars), `"endpoints": [{"url":"`+url+`","state":"responds","calls":`) {
		t.Errorf("%s, %v", vars, err)
	}
	to.Store(newMember(t))
	(*present.Load()).Close()
	if code, err := server.Wait(); code != 1 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if log := server.Stderr.String(); !strings.Contains(log, url+" leads to another cluster") || strings.Contains(log, "start the server again") {
		t.Errorf("the log is\n%s", log)
	}
}
