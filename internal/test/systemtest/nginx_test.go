package systemtest

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// nginxConfig is a format of the configuration around that of deploy/nginx.conf.
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
}`

// TestNginx: behind nginx with deploy/nginx.conf, clients without a key that send large
// bodies receive each response, and nginx does not treat the servers as failed.
func TestNginx(t *testing.T) {
	nginx := process.Tool(t, "nginx")
	t.Parallel()
	addr, dir := process.FreeAddress(), t.TempDir()
	upstreams := fmt.Sprintf("server %s; server %s;", startServer(t).Host(), startServer(t).Host())
	config := string(process.ReadFile(t, "../../../deploy/nginx.conf"))
	for old, replacement := range map[string]string{"server 127.0.0.1:8080;": upstreams, "listen 80;": "listen " + addr + ";"} {
		if !strings.Contains(config, old) {
			t.Fatalf("deploy/nginx.conf has no %q", old)
		}
		config = strings.Replace(config, old, replacement, 1)
	}
	file := filepath.Join(dir, "nginx.conf")
	process.WriteFile(t, file, fmt.Appendf(nil, nginxConfig, config))
	startTool(t, []string{nginx, "-e", "stderr", "-p", dir, "-c", file}, func(*process.Process) bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})

	got := make(map[string]int)
	send := func(line string, size int) {
		method, path, _ := strings.Cut(line, " ")
		req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(strings.Repeat(" ", size)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s with %d bytes: %v", line, size, err)
		}
		resp.Body.Close()
		got[fmt.Sprint(line, " ", resp.StatusCode)]++
	}
	const tries = 3
	for range tries {
		for _, size := range []int{60_000, 250_000, 1 << 20} {
			send("POST /v1/pets", size)
			send("POST /nothing", size)
			for range 5 {
				send("GET /healthz", 0)
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	if got["POST /v1/pets 401"] != 3*tries || got["POST /nothing 404"] != 3*tries || got["GET /healthz 200"] != 15*tries {
		t.Errorf("responses: %v", got)
	}
}
