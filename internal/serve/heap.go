package serve

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is how far the heap may grow before it is worth collecting, in
// bytes. The runtime's default lets it grow to twice what is live, which for
// this server is a few MB: it would collect many times a second under load.
const heapFloor = 24 << 20

// heapFloorPercent makes the runtime's smallest heap, 4 MiB at 100 percent, as
// large as the floor.
const heapFloorPercent = heapFloor / (4 << 20) * 100

// collected is an object that nothing refers to: the next collection of
// garbage has it finalized.
type collected struct{ _ *collected }

// keepHeapFloor has garbage collected only above heapFloor, and above twice
// what is live as always. It respects GOGC where that is set.
func keepHeapFloor() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var adjust func(*collected)
	adjust = func(*collected) {
		metrics.Read(live)
		percent := heapFloorPercent
		if n := live[0].Value.Uint64(); n > 0 {
			percent = min(percent, int(heapFloor*100/n))
		}
		debug.SetGCPercent(max(percent, 100))
		runtime.SetFinalizer(new(collected), adjust)
	}
	adjust(nil)
}
