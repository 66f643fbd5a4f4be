package serve

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// keepHeapFloor makes the runtime collect garbage only above 24 MiB and, as
// always, above twice what is live. By default this server has many collections a
// second under load, and takes about a tenth more processor time. A higher GOGC
// alone would let thousands of connections take several times the memory.
// keepHeapFloor does nothing if GOGC is set.
func keepHeapFloor() {
	const floor, smallest = 24 << 20, 4 << 20 // the smallest heap, at 100 percent
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var adjust func(**byte)
	adjust = func(**byte) {
		metrics.Read(live)
		n := max(smallest, live[0].Value.Uint64())
		debug.SetGCPercent(max(100, int(floor*100/n)))
		runtime.SetFinalizer(new(*byte), adjust) // runs after the next collection
	}
	adjust(nil)
}
