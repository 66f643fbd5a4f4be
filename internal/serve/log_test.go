package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// logFile refuses or delays what is written.
type logFile struct {
	refused chan string // receives what is refused; nil: nothing is
	blocked chan bool   // each write waits until it is closed; nil: none waits
	strings.Builder
}

func (f *logFile) Write(p []byte) (int, error) {
	if f.refused != nil {
		f.refused <- string(p)
		return 0, errors.New("no space left on device")
	}
	if f.blocked != nil {
		<-f.blocked
	}
	return f.Builder.Write(p)
}

// Lines that a full disk refuses are counted, and the count is logged later.
func TestLogThatCannotBeWritten(t *testing.T) {
	out := &logFile{refused: make(chan string)}
	q := newLogQueue(out, (&config{logFormat: "json"}).logHandler)
	for i := range 3 {
		line := fmt.Sprintln("line", i)
		_, _ = q.Write([]byte(line))
		for <-out.refused != line { // skip attempts to log the count
		}
	}
	out.refused = nil
	_, _ = q.Write([]byte("line 3\n"))
	q.close()
	if got := out.String(); !strings.Contains(got, `"level":"WARN"`) || !strings.HasSuffix(got, `"lines":3}`+"\nline 3\n") {
		t.Errorf("the log:\n%s", got)
	}
}

// A log that is read late has every line or the number of those dropped, and the
// last lines.
func TestLogReadLate(t *testing.T) {
	const lines = 3 * maxQueuedLog
	out := &logFile{blocked: make(chan bool)}
	q := newLogQueue(out, new(config).logHandler)
	for i := range lines {
		_, _ = fmt.Fprintln(q, "line", i)
	}
	q.close()
	close(out.blocked)
	<-q.done
	written, dropped := strings.Count(out.String(), "line "), 0
	for _, m := range regexp.MustCompile(`level=WARN msg="log lines dropped: they could not be written" lines=(\d+)\n`).FindAllStringSubmatch(out.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		dropped += n
	}
	if written < lastLog || written > lastLog+1 || written+dropped != lines || !strings.HasSuffix(out.String(), fmt.Sprintf("line %d\n", lines-1)) {
		t.Errorf("%d lines written and %d dropped, of %d", written, dropped, lines)
	}
}

// A client cannot make a line long.
func TestLongPath(t *testing.T) {
	var out strings.Builder
	long := strings.Repeat("x", 10*maxLogged)
	logAccess(slog.New(slog.NewTextHandler(&out, nil)), &http.Request{Method: long, RequestURI: long}, httpapi.Observation{})
	if got := out.Len(); got > 3*maxLogged {
		t.Errorf("%d bytes logged", got)
	}
}

// The log has the cause of a 500 that is not from package httpapi, with the request ID
// of the response.
func TestRefuse(t *testing.T) {
	for _, err := range []error{errors.New("the cause"), errBackup} {
		var out strings.Builder
		s := &server{log: slog.New(slog.NewTextHandler(&out, nil))}
		w := httptest.NewRecorder()
		s.refuse(w, httptest.NewRequest("GET", "/about", nil), err)
		want := `level=ERROR msg="request failed" request_id=` + w.Header().Get("X-Request-ID") + ` method=GET path=/about error="the cause"`
		if got := strings.Contains(out.String(), want); got != (w.Code == 500) || !got && out.Len() > 0 {
			t.Errorf("%v: %d, logged: %s", err, w.Code, &out)
		}
	}
}
