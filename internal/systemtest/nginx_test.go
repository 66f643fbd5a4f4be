package systemtest

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// nginxConfig is a format of directives, the servers of the upstream and the
// address to listen on.
const nginxConfig = `
daemon off;
master_process off; # so that one process ID stops it
pid nginx.pid;
events {}
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	%s
	upstream pets {
		%s
	}
	server {
		listen %s;
		location / {
			proxy_pass http://pets;
		}
	}
}`

// startNginx starts nginx in front of n reference servers, with the directives
// and otherwise its defaults, and returns its URL.
func startNginx(t *testing.T, n int, directives string) string {
	t.Helper()
	nginx := process.Tool(t, "nginx")
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	upstreams := ""
	for range n {
		s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0"))
		upstreams += fmt.Sprintf("server %s;\n", s.Host())
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, directives, upstreams, addr)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(process.Command(dir, nginx, "-e", "stderr", "-p", dir, "-c", config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	err = p.Until("nginx listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + addr
}

// status sends a request with a body of size bytes, and returns the status of
// the response.
func status(t *testing.T, method, url string, size int) int {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(strings.Repeat(" ", size)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	return resp.StatusCode
}

var nginxTries = flag.Int("nginx", 20, "`number` of requests of each kind to send through nginx")

// TestNginxRefusals: responses to large bodies reach the client through nginx.
func TestNginxRefusals(t *testing.T) {
	for _, directives := range []string{"", "proxy_request_buffering off;"} {
		url := startNginx(t, 1, "client_max_body_size 0;"+directives)
		for _, size := range []int{900_000, 3_000_000, 4<<20 - 1} {
			got := make(map[int]int)
			for range *nginxTries {
				got[status(t, "POST", url+"/v1/pets", size)]++
			}
			t.Logf("%d bytes: %v %s", size, got, directives)
			if got[http.StatusUnauthorized] != *nginxTries {
				t.Errorf("%d bytes: statuses %v, want 401 only", size, got)
			}
		}
	}
}

// TestNginxUpstreams: a client without a key that sends two large bodies a
// second does not make nginx treat the servers as failed.
func TestNginxUpstreams(t *testing.T) {
	url := startNginx(t, 2, "")
	got := make(map[int]int)
	for i := range *nginxTries {
		line := []string{"POST /v1/pets", "POST /nothing", "GET /v1/openapi.json", "GET /healthz"}[i%4]
		method, path, _ := strings.Cut(line, " ")
		status(t, method, url+path, 900_000)
		for range 10 {
			got[status(t, "GET", url+"/healthz", 0)]++
			time.Sleep(50 * time.Millisecond)
		}
	}
	t.Log(got)
	if got[http.StatusOK] != 10**nginxTries {
		t.Errorf("statuses %v, want 200 only", got)
	}
}
