package systemtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/systemtest/browser"
)

// page is a script that calls the server at a URL with a key, as the page of
// another site. It returns what it could read.
const page = `(async (url, key) => {
	const headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json", "Idempotency-Key": "once",
		"X-Request-ID": "page", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
	const calls = [
		["/pets", {method: "POST", headers, body: '{"name":"Rex","categoryId":7}'}, ["Location", "X-Request-ID"]],
		["/pets/1", {headers}, ["Deprecation", "Sunset"]],
		["/pets", {method: "POST", headers: {...headers, Authorization: "Bearer wrong"}, body: "{}"}, ["WWW-Authenticate"]],
		["/openapi.json", {credentials: "include"}, []],
	];
	const results = [];
	for (const [path, init, fields] of calls) {
		try {
			const r = await fetch(url + path, init);
			results.push([r.status, ...fields.map((f) => r.headers.get(f))].join(" "));
		} catch (e) {
			results.push("refused");
		}
	}
	return results;
})(%q, %q)`

// TestCrossOrigin: with -cors the web pages of another site can use the server in a
// real browser. Without, they can read nothing.
func TestCrossOrigin(t *testing.T) {
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	b := browser.NewLenient(t)
	b.Do(chromedp.Navigate(site.URL))
	allowed := []string{"201 pets/1 page", "200 @1795132800 Thu, 05 Dec 2030 00:00:00 GMT", `401 Bearer realm="petstore", error="invalid_token"`}
	for _, tt := range []struct {
		origins string
		want    []string
	}{
		{"", []string{"refused", "refused", "refused", "refused"}},
		{"https://pets.example", []string{"refused", "refused", "refused", "refused"}},
		{site.URL + ",https://pets.example", append(allowed[:3:3], "refused")}, // no credentials
		{"*", append(allowed[:3:3], "refused")},
	} {
		s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0", "-cors="+tt.origins))
		got := browser.Eval[[]string](b, page, s.URL, s.Key)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("-cors=%s (-want +got):\n%s", tt.origins, diff)
		}
	}
}
