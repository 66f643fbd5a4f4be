package serve

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// The log has the cause of a 500 that is not from package httpapi, with the request ID
// of the response.
func TestRefuse(t *testing.T) {
	for _, err := range []error{errors.New("the cause"), petstore.Errorf(petstore.CodeUnavailable, "busy")} {
		var out strings.Builder
		s := &server{log: slog.New(slog.NewTextHandler(&out, nil))}
		w := httptest.NewRecorder()
		s.refuse(w, httptest.NewRequest("GET", "/messages", nil), err)
		want := `level=ERROR msg="request failed" request_id=` + w.Header().Get("X-Request-ID") + ` method=GET path=/messages err="the cause"`
		if got := strings.Contains(out.String(), want); got != (w.Code == 500) || !got && out.Len() > 0 {
			t.Errorf("%v: %d, logged: %s", err, w.Code, &out)
		}
	}
}
