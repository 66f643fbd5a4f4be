package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
)

// recordFile asks for every exchange of the tests with a handler, so that the
// answers that they bring about can be held against the description of the
// interface. That is done elsewhere, since it takes a validator.
var recordFile = flag.String("record", "", "append every exchange to this `file`, as lines of JSON")

// exchangeRecord is a line of the file. What a client reads of it are the
// names, and no more: the server's own header fields (Date) are not there.
type exchangeRecord struct {
	Test           string
	Method, Target string
	RequestHeader  http.Header
	RequestBody    []byte // as far as it was read before the response
	Status         int
	Header         http.Header
	Body           []byte
}

// recorded returns h, or a handler that does the same and records it.
// Exchanges without an answer are not recorded.
func recorded(t testing.TB, h http.Handler) http.Handler {
	if *recordFile == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := exchangeRecord{Test: t.Name(), Method: r.Method, Target: r.RequestURI, RequestHeader: r.Header.Clone()}
		var body bytes.Buffer
		r = r.WithContext(r.Context()) // net/http looks at the type of its own request's Body
		r.Body = readCloser{io.TeeReader(r.Body, &body), r.Body}
		answer := answerRecorder{ResponseWriter: w, read: &body}
		h.ServeHTTP(&answer, r)
		rec.RequestBody = body.Bytes()[:answer.used]
		rec.Status, rec.Header, rec.Body = answer.status, answer.header, answer.body.Bytes()
		if err := appendRecord(*recordFile, rec); err != nil {
			t.Error(err)
		}
	})
}

type readCloser struct {
	io.Reader
	io.Closer
}

type answerRecorder struct {
	http.ResponseWriter
	read   *bytes.Buffer // of the request's body
	used   int           // bytes in read before the response
	status int
	header http.Header
	body   bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (a *answerRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answerRecorder) WriteHeader(status int) {
	a.status, a.header, a.used = status, a.Header().Clone(), a.read.Len()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answerRecorder) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.body.Write(b[:n])
	return n, err
}

var recordMu sync.Mutex

func appendRecord(path string, rec exchangeRecord) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	recordMu.Lock()
	defer recordMu.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
