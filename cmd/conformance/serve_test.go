package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

// TestMain makes the test binary the command too, and a server.
func TestMain(m *testing.M) {
	if addr := os.Getenv("TEST_SERVE"); addr != "" {
		log.Fatal(http.ListenAndServe(addr, testserver.New(0)))
	}
	if os.Getenv("CONFORMANCE_TEST_RUN") != "" {
		main()
	}
	os.Exit(process.Main(m))
}

var introduced = regexp.MustCompile(`base address  (\S+)\nAPI key       (\S+)\n\ncurl -i`)

func TestServe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target string // the client requests it several times
		key    string // what the client sends after the key that the program prints
		end    os.Signal
		code   int
		says   []string
	}{
		{"good client", "/pets", "", os.Interrupt, 0, []string{
			"\nGET \"/v1/pets\" 200\n", "\nGET \"/v1/pets\" no response\n", "\nrequests: 12, of which 11 succeeded ", "\nno mistake, seed 3 "}},
		{"wrong client", "/pets?page=0", "", syscall.SIGTERM, 1, []string{"MISTAKE own-cursor (12): ", "\nkinds of mistakes: 1, seed 3 "}},
		{"wrong key", "/pets", "x", os.Interrupt, 3, []string{"\nGET \"/v1/pets\" 401 {", "\nnothing to judge, seed 3 "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := process.Command("", os.Args[0], "serve", "-v", "-seed", "3")
			cmd.Env = append(cmd.Env, "CONFORMANCE_TEST_RUN=1")
			p, err := process.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			var at []string
			err = p.Until("it prints its address", func() bool {
				at = introduced.FindStringSubmatch(p.Stdout.String())
				return at != nil
			})
			if err != nil {
				t.Fatal(err)
			}
			send := func(method, target string) http.Header {
				r, _ := http.NewRequestWithContext(t.Context(), method, at[1]+target, nil)
				r.Header.Set("Authorization", "Bearer "+at[2]+tt.key)
				r.Header.Set("Access-Control-Request-Headers", "authorization,traceparent")
				resp, err := new(http.Transport).RoundTrip(r)
				if err != nil { // some get no response
					return nil
				}
				resp.Body.Close()
				return resp.Header
			}
			h := send("OPTIONS", "/pets")
			h.Del("Date")
			if got := fmt.Sprint(h); got != "map[Access-Control-Allow-Headers:[authorization,traceparent] Access-Control-Allow-Origin:[*] Access-Control-Expose-Headers:[Link, Retry-After] Content-Length:[0]]" {
				t.Errorf("a preflight gets %s", got)
			}
			for range 12 {
				send("GET", tt.target)
			}
			if err := p.Signal(tt.end); err != nil {
				t.Fatal(err)
			}
			if code := p.Wait(); code != tt.code {
				t.Errorf("exit code %d, want %d:\n%s", code, tt.code, p.Tail())
			}
			for _, part := range tt.says {
				if !strings.Contains(p.Stdout.String(), part) {
					t.Errorf("the output lacks %q:\n%s", part, p.Stdout.String())
				}
			}
		})
	}
}
