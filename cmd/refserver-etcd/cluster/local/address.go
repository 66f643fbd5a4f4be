package local

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// freeAddress returns a loopback address that nobody listens on. It is not one
// of those that the system gives to outgoing connections, so that a process
// which is restarted finds its address free.
func freeAddress() (string, error) {
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if ln, err := net.Listen("tcp", addr); err == nil {
			return addr, ln.Close()
		}
	}
	return "", errors.New("no free port between 20000 and 32000")
}
