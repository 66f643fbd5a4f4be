package petstoretest

import (
	"net/http"
	"time"
)

// exchange is a request of the client and what became of it. The watcher sees it
// before the client can see the end of it: before the last byte of the response
// is sent, or the connection is cut. So an exchange that the client began because
// of another one is always seen after that one.
type exchange struct {
	number int    // 1 for the first request
	client string // address of the other end of the connection
	began  time.Time
	ended  time.Time
	other  bool // it came to the server's other address, to which no key belongs

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
}
