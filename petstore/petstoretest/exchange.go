package petstoretest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// exchange is a request of the client and what became of it. The watcher sees it
// before the client can see the end of it: before the last byte of the response
// is sent, or the connection is cut. So an exchange that the client began because
// of another one is always seen after that one.
type exchange struct {
	number int    // 1 for the first request
	client string // address of the other end of an HTTP/1 connection
	began  time.Time
	ended  time.Time
	other  bool // it came to the server's other address, to which no key belongs

	elsewhere string // the base address of that other address

	method string
	path   string // unescaped, after the base path, such as /pets/7
	query  string
	sent   http.Header
	body   []byte // of the request

	done     bool // the operation was carried out, whatever the client saw of it
	status   int  // of the response; 0: the connection was cut before the end of one
	header   http.Header
	response []byte // as it was sent

	met []string // the names of the difficulties that the exchange had

	// How the response is sent.
	delay   time.Duration // before it
	chunked bool          // in small pieces, without Content-Length
	cut     bool          // the connection is closed instead, or in the middle of the body if there is a status
}

// send sends the response, or the part of it that the client gets.
func (x *exchange) send(w http.ResponseWriter) {
	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
	body, piece := x.response, len(x.response)
	if x.chunked {
		piece = len(body)/5 + 1
	} else if x.method != http.MethodHead && x.status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if x.cut {
		body = body[:len(body)/2]
	}
	w.WriteHeader(x.status)
	for part := range slices.Chunk(body, max(piece, 1)) {
		_, _ = w.Write(part)
		if x.chunked || x.cut {
			_ = http.NewResponseController(w).Flush()
		}
	}
	if x.cut {
		panic(http.ErrAbortHandler)
	}
}
