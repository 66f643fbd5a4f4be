package local

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// freeAddress returns a free loopback address. Its port is not one of those that
// the system assigns to outgoing connections, so the address is still free when
// a process is restarted.
func freeAddress() (string, error) {
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if ln, err := net.Listen("tcp", addr); err == nil {
			return addr, ln.Close()
		}
	}
	return "", errors.New("no free port between 20000 and 32000")
}
