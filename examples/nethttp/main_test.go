package main

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore/apikey"
)

// The server is conformant under its prefix, and stops at SIGINT.
func TestServer(t *testing.T) {
	t.Chdir(t.TempDir())
	key, _, err := apikey.Create("pets.keys", "alice")
	if err != nil {
		t.Fatal(err)
	}
	addr, ended := process.FreeAddress(), make(chan error, 1)
	go func() { ended <- run(addr) }()
	url := "http://" + addr + "/v1"
	send := func(method, path string) (*http.Response, error) {
		r, _ := http.NewRequest(method, url+path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		return resp, err
	}
	process.Eventually(t, "a response", func() error { _, err := send("GET", ""); return err })
	conformancetest.Run(t, conformance.Target{URL: url, MessagesURL: url, Key: key}, &conformance.Options{
		FailLevel: conformance.Recommended, Timeout: process.Patience,
	})
	for request, want := range map[[2]string]int{
		{"PROPFIND", "/pets"}: 405, {"GET", "//pets"}: 200, {"GET", "/pets/"}: 404, // 200 after a redirect
	} {
		if r, err := send(request[0], request[1]); err != nil || r.StatusCode != want || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v, %v", request, r, err)
		}
	}
	this, _ := os.FindProcess(os.Getpid())
	if err := errors.Join(this.Signal(os.Interrupt), <-ended); err != nil {
		t.Error(err)
	}
}
