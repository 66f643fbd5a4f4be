package process

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
)

// FreeAddress tries one port after the other from firstPort. Other processes begin
// elsewhere.
var (
	firstPort = rand.Uint32N(12_000)
	tried     atomic.Uint32
)

// FreeAddress returns a free loopback address, each time another one. Its port is
// not one of those that the system assigns to outgoing connections, so the address
// is still free when a process is restarted.
func FreeAddress() string {
	for range 1000 {
		addr := fmt.Sprint("127.0.0.1:", 20_000+(firstPort+tried.Add(1))%12_000)
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			return addr
		}
	}
	panic("no free port between 20000 and 32000")
}
