package probe

import (
	"strings"
	"testing"
)

const ordinary = "a valid pet is added: GET /pets responds 200, want 1 key; status available"

func TestRedact(t *testing.T) {
	const long = "s3cr-et/K3y-0123456789"
	for _, tt := range []struct{ key, text, want string }{
		{long, "Bearer " + long + " and S3CR-ET/K3Y-0123456789", "Bearer [key] and [key in upper case]"},
		{long, `{"got":"s3cr-et\/K3y-0123456789"}`, `{"got":"[key]"}`},
		{long, "s3cr-et/K3y-012345678 is short", "[key without its last character] is short"},

		// A short key is replaced as a whole word.
		{"zeb", `no zebra has "zeb" or ZEB`, `no zebra has "[key]" or [key]`},
		{"zeb", "Bearer zeb, zeb-1", "Bearer [key], [key]-1"},
		{"zebra", Cut("a zebra", 6), "a [key, cut]… [1 bytes more]"},

		// A common one is replaced where something says that it is the key.
		{"pet", "a pet of pets: Bearer pet, bearer pets", "a pet of pets: Bearer [key], bearer pets"},
		{"a", `a cat {"name":"a","token":"a"}`, `a cat {"name":"a","token":"[key]"}`},
		{"1", `{"id":1,"status":401,"api_key": "1"}`, `{"id":1,"status":401,"api_key": "[key]"}`},
		{"key", `the key is wrong, "key":"rex", X-Api-Key: key`, `the key is wrong, "key":"rex", X-Api-Key: [key]`},
		{"available", `{"status":"available","auth":"Authorization: Bearer available"}`, `{"status":"available","auth":"Authorization: Bearer [key]"}`},
		{"pet", "QmVhcmVyIHBldA==", "[key in base64]"},
	} {
		if got := NewRedactor(tt.key, ordinary).Replace(tt.text); got != tt.want {
			t.Errorf("the key %q in %s\ngot  %s\nwant %s", tt.key, tt.text, got, tt.want)
		}
	}
	if got := NewRedactor("1", ordinary).ShowField("X-Api-Key", "1"); got != "[key]" {
		t.Errorf("a field with the key is shown as %s", got)
	}
	if got := NewRedactor("1", ordinary).ShowField("X-Count", "1\x1b"); strings.ContainsRune(got, 0x1b) || !strings.HasPrefix(got, "1") {
		t.Errorf("a field with a number is shown as %q", got)
	}
}
