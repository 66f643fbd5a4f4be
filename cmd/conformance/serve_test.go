package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// TestMain makes the test binary the command too.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_TEST_RUN") != "" {
		main()
	}
	os.Exit(process.Main(m))
}

// goodClient uses every operation.
func goodClient(t *testing.T, url, key string) {
	c, err := client.New(url, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		pet, err := c.CreatePet(t.Context(), petstore.NewPet{Name: fmt.Sprint("Rex ", i), CategoryID: 1}, petstore.Once{})
		if err == nil {
			_, err = c.GetPet(t.Context(), pet.ID)
		}
		if err == nil {
			_, err = c.SubmitMessage(t.Context(), fmt.Sprint("hello ", i), petstore.Once{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range c.All(t.Context(), petstore.ListQuery{Limit: 10}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// naiveClient repeats every request at once until it succeeds, keeps IDs as
// floating-point numbers, and requests pages by number.
func naiveClient(t *testing.T, url, key string) {
	call := func(method, path, body string) (result any) {
		for range 5 {
			req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+key)
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue
			}
			var b bytes.Buffer
			_, err = b.ReadFrom(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode < 300 && json.Unmarshal(b.Bytes(), &result) == nil {
				return result
			}
		}
		return nil
	}
	for i := range 60 {
		if pet, ok := call("POST", "/pets", fmt.Sprintf(`{"name":"Rex %d","categoryId":1}`, i)).(map[string]any); ok {
			call("GET", fmt.Sprintf("/pets/%.0f", pet["id"]), "")
		}
		call("GET", fmt.Sprint("/pets?page=", i), "")
	}
}

var introduced = regexp.MustCompile(`base address  (\S+)\nAPI key       (\S+)\n`)

// TestServe runs the program.
func TestServe(t *testing.T) {
	for _, tt := range []struct {
		name string
		args string
		use  func(t *testing.T, url, key string)
		end  os.Signal
		code int
		says []string
	}{
		{"good client", "-seed 3", goodClient, os.Interrupt, 0, []string{"\nno mistake: ", "NOTE deprecated-operation"}},
		{"naive client", "-seed 1 -only ids,lost,busy", naiveClient, syscall.SIGTERM, 1,
			[]string{"MISTAKE repeated-without-key: ", "MISTAKE own-cursor: ", "MISTAKE rounded-id: ", "  > GET /v1/pets?page=0\n", ", failed: repeated-without-key\n", " kinds of mistakes: "}},
		{"no client", "", nil, os.Interrupt, 3, []string{"\nnothing to judge: 0 requests"}},
		{"wrong key", "", func(t *testing.T, url, _ string) {
			for range 5 { // some get no response, or 429
				if resp, err := http.Get(url + "/pets"); err == nil {
					resp.Body.Close()
				}
			}
		}, os.Interrupt, 3, []string{"NOTE unauthorized: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := process.Command(dir, append([]string{os.Args[0], "serve", "-report", "json=json", "-report", "text=text"}, strings.Fields(tt.args)...)...)
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
			if tt.use != nil {
				tt.use(t, at[1], at[2])
			}
			if err := p.Signal(tt.end); err != nil {
				t.Fatal(err)
			}
			if code, err := p.Wait(); err != nil || code != tt.code {
				t.Errorf("exit code %d (%v), want %d:\n%s", code, err, tt.code, p.Log())
			}
			for _, part := range tt.says {
				if !strings.Contains(p.Stdout.String(), part) {
					t.Errorf("the output lacks %q:\n%s", part, p.Log())
				}
			}
			text := string(process.ReadFile(t, filepath.Join(dir, "text")))
			if !strings.HasSuffix(p.Stdout.String(), text) {
				t.Errorf("the text report is not the end of the output:\n%s", text)
			}
			var got clientReport
			if err := json.Unmarshal(process.ReadFile(t, filepath.Join(dir, "json")), &got); err != nil || got.Format != "petstore-client/2" || len(got.Met) == 0 {
				t.Errorf("the JSON report is %+v, %v", got, err)
			}
		})
	}
}
