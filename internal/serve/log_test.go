package serve

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// stuck is a log that nobody reads: each write waits until it is closed.
type stuck chan bool

func (s stuck) Write(p []byte) (int, error) {
	<-s
	return 0, errors.New("no space left on device")
}

// A log that nobody reads stops nothing. Lines that were not written are counted.
func TestLogWriter(t *testing.T) {
	const lines = 5000
	out := make(stuck)
	l := newLogWriter(out)
	for range lines {
		_, _ = l.Write([]byte("a line\n"))
	}
	l.close()
	if n := l.dropped.Load(); n < 2000 || n > lines {
		t.Errorf("%d lines of %d dropped", n, lines)
	}
	close(out)

	var read strings.Builder
	l = newLogWriter(&read)
	_, _ = l.Write([]byte("one\n"))
	_, _ = l.Write([]byte("two\n"))
	l.close()
	if got := read.String(); got != "one\ntwo\n" || l.dropped.Load() != 0 {
		t.Errorf("the log has %q, and %d lines were dropped", got, l.dropped.Load())
	}
}

// The access log has neither the credential nor the query, and a client cannot make a
// line long.
func TestLogRequest(t *testing.T) {
	var out strings.Builder
	long := strings.Repeat("x", 5000)
	r := &http.Request{Method: long, RequestURI: "/" + long, RemoteAddr: "10.0.0.1:7", Header: http.Header{"Authorization": {"Bearer secret"}}}
	logRequest(slog.New(slog.NewTextHandler(&out, nil)), r, httpapi.Observation{RequestID: "id-1", Principal: "alice", Status: 400, Code: "invalid"})
	if got := out.String(); len(got) > 1500 || strings.Contains(got, "secret") ||
		!strings.Contains(got, "msg=request request_id=id-1 remote=10.0.0.1:7 principal=alice method=xx") || !strings.Contains(got, "status=400 ") {
		t.Errorf("logged: %s", got)
	}
	out.Reset()
	logRequest(slog.New(slog.NewTextHandler(&out, nil)), &http.Request{RequestURI: "/v1/pets?key=secret"}, httpapi.Observation{})
	if got := out.String(); strings.Contains(got, "secret") || !strings.Contains(got, " path=/v1/pets status=0 ") {
		t.Errorf("logged: %s", got)
	}
}

// The log has the cause of a 500 that is not from package httpapi, with the request ID
// of the response.
func TestRefuse(t *testing.T) {
	for _, err := range []error{errors.New("the cause"), petstore.Errorf(petstore.CodeUnavailable, "busy")} {
		var out strings.Builder
		s := &server{log: slog.New(slog.NewTextHandler(&out, nil))}
		w := httptest.NewRecorder()
		s.refuse(w, httptest.NewRequest("GET", "/about", nil), err)
		want := `level=ERROR msg="request failed" request_id=` + w.Header().Get("X-Request-ID") + ` method=GET path=/about err="the cause"`
		if got := strings.Contains(out.String(), want); got != (w.Code == 500) || !got && out.Len() > 0 {
			t.Errorf("%v: %d, logged: %s", err, w.Code, &out)
		}
	}
}
