package conformance

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/animalstore/conformance/internal/wire"
)

const aKey = "petstore_zw3eackaijyksx4mvj2nwlomzp2n57vpzsvix4kp6n3n2yt2lhvsroxg"

// What a target echoes of a credential, as it was sent, is replaced.
func TestRedact(t *testing.T) {
	const key = "s3cr-et/K3y-0123456789"
	r := wire.NewClient(key, secrets(key), 0, nil)
	for _, c := range append(badCredentials(key), validKey, lowerScheme) {
		if c.Value != nil && strings.Contains(r.Show("got "+c.Value(key)), "K3y") {
			t.Errorf("%s is shown as %q", c.What, r.Show(c.Value(key)))
		}
	}
	for text, want := range map[string]string{
		`{"got":"s3cr-et\/K3y-0123456789"}`: `{"got":"[key]"}`,
		"?key=s3cr-et%2FK3y-0123456789":     "?key=[key]",
	} {
		if got := r.Show(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := wire.NewClient("pet", nil, 0, nil).Show("a pet"); got != "a pet" {
		t.Errorf("a word that is a short key is shown as %q", got)
	}
}

// A curl command sends the same credential as the run.
func TestShell(t *testing.T) {
	for _, key := range []string{aKey, "abcdefghij", "bcdefghijKLM", "~bcdefg~hijKL~", "abcdeconforms"} {
		for _, c := range append(badCredentials(key), validKey, lowerScheme) {
			if c.Value == nil {
				continue
			}
			cmd := exec.Command("sh", "-c", `printf %s "`+c.Shell+`"`)
			cmd.Env = []string{"PETSTORE_API_KEY=" + key, "PATH=" + os.Getenv("PATH")}
			out, err := cmd.Output()
			if got, want := string(out), c.Value(key); err != nil || got != want {
				t.Errorf("%s: the shell sends %q (%v), want %q", c.What, got, err, want)
			}
			if c.What != validKey.What && c.What != lowerScheme.What && c.Value(key) == "Bearer "+key {
				t.Errorf("%s: it is the valid credential", c.What)
			}
		}
	}
}
