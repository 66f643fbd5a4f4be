package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// The reference server loses nothing when it is killed and started again.
func TestSoak(t *testing.T) {
	dir := t.TempDir()
	refserver := process.Build(t, "example.com/animalstore/cmd/refserver")
	// While the server is down, no connection from 127.0.0.1 takes a port of this address.
	s := process.Serve(t, process.Command(dir, refserver, "-addr=127.0.0.2:0"))
	pid := s.Path("pid")
	process.WriteFile(t, pid, []byte(strconv.Itoa(s.Pid())))
	t.Cleanup(func() { process.Run(t, process.Command(dir, "sh", "-c", "kill -9 $(cat pid)")) })

	// A process that ends closes its socket after /proc has no executable for it, and
	// before its last thread is a zombie.
	restart := fmt.Sprintf(`cd %s; exec >>log 2>&1; kill -9 $(cat pid)
		until [ "$(cat /proc/$(cat pid)/task/*/stat 2>/dev/null | grep -vc ' Z ')" = 0 ]; do sleep 0.01; done
		%s -addr=%s & echo $! >pid`, dir, refserver, s.Host())
	env := map[string]string{"PETSTORE_API_KEY": s.Key}
	file := filepath.Join(dir, "soak.json")
	code, stdout, stderr := cli(t, env, "soak", "-url", s.URL, "-messages-url", s.URL, "-for", "8s", "-every", "2s", "-restart", restart, "-report", "json="+file)
	if code != exitConformant || !strings.Contains(stdout, "\nconformant: ") || !strings.Contains(stdout, " restarts, ") {
		t.Errorf("code %d\n%s\n%s\n%s", code, stdout, stderr, process.ReadFile(t, s.Path("log")))
	}
	if b := process.ReadFile(t, file); !strings.Contains(string(b), `"restarts": `) {
		t.Errorf("the report in JSON: %s", b)
	}
	t.Log(stdout)
}
