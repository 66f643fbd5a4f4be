package systemtest

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

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

// plain are the replacements that leave nginx its defaults: HTTP/1.0, and a
// connection for each request.
var plain = []string{"keepalive 32;", "", "proxy_http_version 1.1;", "", `proxy_set_header Connection "";`, ""}

// startNginx starts nginx in front of n reference servers, with deploy/nginx.conf
// after the replacements, and returns its URL.
func startNginx(t *testing.T, n int, replacements ...string) string {
	t.Helper()
	nginx := process.Tool(t, "nginx")
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	upstreams := ""
	for range n {
		s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0"))
		upstreams += fmt.Sprintf("server %s;\n", s.Host())
	}
	addr, dir := process.FreeAddress(), t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	text := string(process.ReadFile(t, "../../deploy/nginx.conf"))
	replacements = append(replacements, "server 127.0.0.1:8080;", upstreams, "listen 80;", "listen "+addr+";")
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("deploy/nginx.conf has no %q", replacements[i])
		}
		text = strings.Replace(text, replacements[i], replacements[i+1], 1)
	}
	text = fmt.Sprintf(nginxConfig, text)
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
	unbuffered := []string{"location / {", "location / { proxy_request_buffering off;"}
	for name, replacements := range map[string][]string{
		"as in deploy": nil, "plain": plain, "unbuffered": unbuffered, "plain, unbuffered": slices.Concat(plain, unbuffered),
	} {
		url := startNginx(t, 1, replacements...)
		for _, size := range []int{60_000, 250_000, 1 << 20} {
			got := make(map[int]int)
			for range *nginxTries {
				got[status(t, "POST", url+"/v1/pets", size)]++
			}
			t.Logf("%s: %d bytes: %v", name, size, got)
			if got[http.StatusUnauthorized] != *nginxTries {
				t.Errorf("%s: %d bytes: statuses %v, want 401 only", name, size, got)
			}
		}
	}
}

// TestNginxUpstreams: a client without a key that sends two large bodies a
// second does not make nginx treat the servers as failed.
func TestNginxUpstreams(t *testing.T) {
	for name, replacements := range map[string][]string{"as in deploy": nil, "plain": plain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := startNginx(t, 2, replacements...)
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
		})
	}
}
