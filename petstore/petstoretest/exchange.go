package petstoretest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// exchange is a request of the client and its response. The watcher sees an
// exchange before the server sends the end of the response or cuts the connection.
// So if the client begins an exchange because of an earlier one, the watcher sees
// the earlier one first.
type exchange struct {
	number int    // 1 for the first request
	client string // the client's address and port, if the connection is HTTP/1
	began  time.Time
	ended  time.Time
	other  bool // the request came to the server's other address, which must not receive a key

	elsewhere string // the base URL at that other address

	method string
	path   string // unescaped, after the base path, such as /pets/7
	query  string
	sent   http.Header
	body   []byte // of the request

	done     bool // the operation was carried out, even if the client received no response
	status   int  // of the response; 0: the connection was cut before the response ended
	header   http.Header
	response []byte // the body

	met   []string // the names of the difficulties of the exchange
	first bool     // it is the first exchange that its difficulty interrupts

	// How the response is sent.
	delay   time.Duration // how long to wait before
	chunked bool          // in small pieces, without Content-Length
	cut     bool          // close the connection: in the middle of the body if there is a status, otherwise before the response
}

// send sends the response, or the part of it that the client receives.
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
