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

// recordFile receives every exchange of the tests with a handler, so that the
// responses can be compared with the OpenAPI document. That is done in another
// module, because it needs a validator.
var recordFile = flag.String("record", "", "append every exchange to this `file`, as lines of JSON")

// exchangeRecord is a line of the file. The header fields that only the server
// adds (Date) are absent.
type exchangeRecord struct {
	Test           string
	Method, Target string
	RequestHeader  http.Header
	RequestBody    []byte // as far as it was read before the response
	Status         int
	Header         http.Header
	Body           []byte
}

// recorded returns h, or with a recordFile a handler that also records every
// exchange with a response.
func recorded(t testing.TB, h http.Handler) http.Handler {
	if *recordFile == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := exchangeRecord{Test: t.Name(), Method: r.Method, Target: r.RequestURI, RequestHeader: r.Header.Clone()}
		var body bytes.Buffer
		r = r.WithContext(r.Context()) // net/http looks at the type of its own request's Body
		r.Body = readCloser{io.TeeReader(r.Body, &body), r.Body}
		rw := responseRecorder{ResponseWriter: w, read: &body}
		h.ServeHTTP(&rw, r)
		rec.RequestBody = body.Bytes()[:rw.used]
		rec.Status, rec.Header, rec.Body = rw.status, rw.header, rw.body.Bytes()
		if err := appendRecord(*recordFile, rec); err != nil {
			t.Error(err)
		}
	})
}

type readCloser struct {
	io.Reader
	io.Closer
}

type responseRecorder struct {
	http.ResponseWriter
	read   *bytes.Buffer // of the request's body
	used   int           // bytes in read before the response
	status int
	header http.Header
	body   bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (a *responseRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *responseRecorder) WriteHeader(status int) {
	a.status, a.header, a.used = status, a.Header().Clone(), a.read.Len()
	a.ResponseWriter.WriteHeader(status)
}

func (a *responseRecorder) Write(b []byte) (int, error) {
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
