package petstoretest

import (
	"net/http"
	"time"
)

// exchange is a request of the client and what became of it.
type exchange struct {
	number int // 1 for the first request
	began  time.Time
	ended  time.Time
	other  bool // it came to the server's other address, to which no key belongs

	method string
	path   string // after the base path, such as /pets/7
	query  string
	sent   http.Header
	body   []byte // of the request

	done     bool // the operation was carried out, whatever the client saw of it
	status   int  // of the response; 0: none was sent
	header   http.Header
	response []byte

	met []string // the names of the difficulties that the exchange had
}
