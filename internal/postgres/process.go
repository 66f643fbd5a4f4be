package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/process"
)

// start starts a process that gets the signal when this one ends.
func start(dir string, atEnd syscall.Signal, env []string, args ...string) (*process.Process, error) {
	cmd := process.Command(dir, args...)
	cmd.Env = append(cmd.Env, env...)
	if err := prepare(cmd, atEnd); err != nil {
		return nil, err
	}
	return process.Start(cmd)
}

// kill kills processes and waits until they have ended.
func kill(pids []int) {
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // fails if it has ended
		}
	}
	for _, pid := range pids {
		for running(pid) {
			time.Sleep(time.Millisecond)
		}
	}
}

// family returns a process, its children, their children and so on. It finds no
// children on a system without /proc.
func family(pid int) []int {
	pids := []int{pid}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		b, _ := os.ReadFile(thread) // fails if the thread has ended
		for _, child := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(child); err == nil {
				pids = append(pids, family(pid)...)
			}
		}
	}
	return pids
}

// running reports whether a process runs, which one that only waits for its parent to
// notice its end does not.
func running(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // 1234 (postgres) S 1 ...
	_, state, found := strings.Cut(string(b), ") ")
	return found && state[0] != 'Z' && state[0] != 'X'
}
