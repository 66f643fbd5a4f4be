package main

import (
	"bufio"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// A server serves and stops even if nobody reads its log, or if the reader is gone.
// The log is JSON.
func TestStopWithUnreadLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unread", "closed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stderr, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stderr.Close()
			cmd := command(t.TempDir(), "-access-log", "-log=json")
			cmd.Stderr = w
			p, err := process.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			w.Close()
			line, err := bufio.NewReader(stderr).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if name == "closed" {
				stderr.Close()
			}
			form := regexp.MustCompile(`^{"time":"[^"]+","level":"INFO","msg":"serving","url":"([^"]+)",.*}\n$`)
			url := form.ReplaceAllString(line, "$1")
			client := &http.Client{Timeout: process.Patience}
			defer client.CloseIdleConnections()
			for range 600 { // their log lines are several times what a pipe holds
				resp, err := client.Get(url + "/" + strings.Repeat("x", 4000))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
			}
			client.CloseIdleConnections()
			_ = p.Signal(syscall.SIGTERM)
			if code, err := p.Wait(); code != 0 || err != nil {
				t.Errorf("exit code %d, %v", code, err)
			}
		})
	}
}
