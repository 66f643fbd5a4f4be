package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// TestMain makes the test binary the command too.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_TEST_RUN") != "" {
		main()
	}
	os.Exit(process.Main(m))
}

var introduced = regexp.MustCompile(`base address  (\S+)\nAPI key       (\S+)\n`)

// TestServe runs the program. The tests of petstoretest show which clients make which
// mistakes.
func TestServe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target string // the client requests it several times; "": there is no client
		key    string // what the client sends; "": the one that the program prints
		end    os.Signal
		code   int
		says   []string
	}{
		{"good client", "/pets", "", os.Interrupt, 0, []string{"\nOPTIONS \"/v1/pets\" 204\nGET \"/v1/pets\" ", "\nids              met    0\n", "\nno mistake: 8 requests, "}},
		{"wrong client", "/pets?page=0", "", syscall.SIGTERM, 1, []string{"MISTAKE own-cursor: ", "  `GET /v1/pets?page=0`\n", " mistakes of 1 kind: 8 requests, "}},
		{"wrong key", "/pets", "x", os.Interrupt, 3, []string{"\nGET \"/v1/pets\" 401\n", "\nnothing to judge: "}},
		{"no client", "", "", os.Interrupt, 3, []string{"nothing to judge: 0 requests, 0 succeeded (-v prints the status of each), seed 3\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := process.Command("", os.Args[0], "serve", "-v", "-seed", "3", "-only", "ids,lost")
			cmd.Env = append(cmd.Env, "CONFORMANCE_TEST_RUN=1")
			p, err := process.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			var at []string
			err = p.Until("it prints its address", func() bool {
				at = introduced.FindStringSubmatch(p.Stdout.String())
				return at != nil && strings.Contains(p.Stdout.String(), "curl -i")
			})
			if err != nil {
				t.Fatal(err)
			}
			preflight, err := http.NewRequestWithContext(t.Context(), "OPTIONS", at[1]+"/pets", nil)
			if err != nil {
				t.Fatal(err)
			}
			preflight.Header.Set("Access-Control-Request-Method", "GET")
			preflight.Header.Set("Access-Control-Request-Headers", "authorization")
			resp, err := http.DefaultClient.Do(preflight)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := resp.Header.Get("Access-Control-Allow-Headers"); got != "authorization" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("a preflight gets %v", resp.Header)
			}
			for i := 0; i < 8 && tt.target != ""; i++ { // some get no response
				r, err := http.NewRequestWithContext(t.Context(), "GET", at[1]+tt.target, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+at[2]+tt.key)
				if resp, err := new(http.Transport).RoundTrip(r); err == nil {
					resp.Body.Close()
				}
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
