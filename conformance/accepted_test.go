package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/process"
)

// accepts makes a server respond to the requests that it refuses as if it had accepted
// them. The responses have the field X-Accepted.
func accepts(next http.Handler) http.Handler {
	const pet = `{"id":1,"name":"none","categoryId":1}`
	for _, a := range []struct {
		op     string
		status int
		body   string
	}{
		{list, 200, "[" + pet + "]"}, {create, 201, pet}, {fetch, 200, pet},
		{submit, 202, `{"id":"none","message":"none","status":"queued","createdAt":"2026-11-23T12:00:00Z"}`},
	} {
		next = responses(a.op, 0, func(res *response) {
			if res.status >= 400 {
				res.status, res.body = a.status, a.body
				res.header.Set("X-Accepted", "yes")
			}
		})(next)
	}
	return next
}

// ofBody matches the checks that fail because accepts knows nothing of the request.
var ofBody = regexp.MustCompile(`\.(unique|echo|now|passes|media-type|id|same-text)$|^http\.location$|^pets\.list\.|^deprecation`)

// The checks that fail, for each request that the reference implementation refuses, if it
// is accepted instead. A line without a check has a
// request that the contract allows to accept.
func TestAccepted(t *testing.T) {
	t.Parallel()
	const file = "testdata/accepted.txt"
	var lines []string
	serve(t, variant{http: accepts, opts: withCategory(5)}, func(t *testing.T, target conformance.Target, opts *conformance.Options) {
		sent, violates, err := conformance.Sent(t.Context(), target, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range sent {
			if x.ResponseHeader.Get("X-Accepted") != "" {
				ids := slices.DeleteFunc(violates[x], ofBody.MatchString)
				lines = append(lines, fmt.Sprintf("%s: %s\n", strings.Join(ids, " "), request(x)))
			}
		}
	})
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "")
	if *update {
		process.WriteFile(t, file, []byte(got))
	} else if diff := cmp.Diff(string(process.ReadFile(t, file)), got); diff != "" {
		t.Errorf("%s; go test ./conformance -run TestAccepted -update writes it (-want +got):\n%s", file, diff)
	}
}

// request returns the request of x without what differs from run to run.
func request(x *conformance.Proof) string {
	_, path, _ := strings.Cut(x.URL, "/v1")
	if !strings.HasPrefix(path, "/pets/92233720368547758") { // the limits of int64
		path = compile(`/pets/([4-9]\d{18}|[1-9]\d{0,2})$`).ReplaceAllString(path, "/pets/ID")
	}
	key := "no credential"
	if values, ok := x.RequestHeader["Authorization"]; ok {
		key = values[0]
	}
	if key == "Bearer [key]" {
		key = "the key"
	}
	return fmt.Sprintf("%s %s, %s, %#.90q", x.Method, path, key, compile("Conf[a-z]{9}").ReplaceAllString(x.RequestBody, "NAME"))
}
