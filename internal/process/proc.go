package process

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
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

// ProcessorTime returns the processor time of the process in seconds. It returns NaN
// on a system without /proc.
func (p *Process) ProcessorTime() float64 {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Pid()))
	if files == nil {
		return math.NaN()
	}
	total := 0.0
	for _, file := range files {
		var nanoseconds float64
		b, _ := os.ReadFile(file) // fails if the thread has ended
		_, _ = fmt.Sscan(string(b), &nanoseconds)
		total += nanoseconds / 1e9
	}
	return total
}
