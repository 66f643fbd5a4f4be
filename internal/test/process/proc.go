package process

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// Memory returns a figure of the process's memory in MB by its name in
// /proc/PID/status: RssAnon, or VmRSS, which includes mapped files. It returns NaN
// on a system without that file.
func (p *Process) Memory(name string) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	_, value, _ := strings.Cut(string(b), "\n"+name+":")
	var kilobytes float64
	if _, err := fmt.Sscan(value, &kilobytes); err != nil {
		return math.NaN()
	}
	return kilobytes * 1024 / 1e6
}
