package petstoretest

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// exchange is a request of a client and its response.
type exchange struct {
	request      *http.Request
	body         []byte // of the request
	began, ended time.Time
	failure      string // busy, lost or ""

	done     bool // the operation was carried out
	status   int  // of the response; 0: nothing is sent
	header   http.Header
	response []byte // the body
	cut      bool   // the client does not get the whole response
}

// carryOut lets next handle the request, and keeps the response in x.
func (x *exchange) carryOut(next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, x.request)
	x.done = rec.Code/100 == 2
	x.status, x.header, x.response = rec.Code, rec.Header(), rec.Body.Bytes()
}

// send sends the response, or the part of it that the client receives.
func (x *exchange) send(w http.ResponseWriter) {
	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
	if x.request.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(x.response)))
	}
	w.WriteHeader(x.status)
	if x.cut {
		_, _ = w.Write(x.response[:len(x.response)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(x.response)
}

// result says what the client is sent: the status, and for an error its message.
func (x *exchange) result() string {
	var e struct {
		Message string `json:"message"`
	}
	switch {
	case x.status == 0:
		return "no response"
	case x.cut:
		return fmt.Sprintf("%d, cut in the middle", x.status)
	case x.status >= 400 && json.Unmarshal(x.response, &e) == nil:
		return fmt.Sprintf("%d %s", x.status, e.Message)
	}
	return strconv.Itoa(x.status)
}

const otherOperation = "other"

// operation returns the method and path of an operation of the contract, or otherOperation.
func (x *exchange) operation() string {
	path, ok := strings.CutPrefix(x.request.URL.Path, basePath)
	if !ok {
		return otherOperation
	}
	if id, ok := strings.CutPrefix(path, "/pets/"); ok && !strings.Contains(id, "/") {
		path = "/pets/{petId}"
	}
	switch name := x.request.Method + " " + path; name {
	case "GET /pets", "POST /pets", "GET /pets/{petId}", "POST /messages":
		return name
	}
	return otherOperation
}

func (x *exchange) isCreate() bool {
	name := x.operation()
	return name == "POST /pets" || name == "POST /messages"
}

// identity is the same for equal requests of an account, with any Idempotency-Key.
func (x *exchange) identity() string {
	r := x.request
	return strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Authorization"), string(x.body)}, "\n")
}

func (x *exchange) idempotencyKey() string { return x.request.Header.Get("Idempotency-Key") }

// nextPage returns the query of the link to the next page in the response, or "".
func (x *exchange) nextPage() string {
	query, ok := strings.CutPrefix(x.header.Get("Link"), "<?")
	if !ok {
		return ""
	}
	query, _, _ = strings.Cut(query, ">")
	return query
}
