package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// load is what a number of clients on kept-alive connections do for a while:
// each sends its next request when it has the answer to the last.
type load struct {
	request
	Clients int     `json:"clients"`
	Seconds float64 `json:"seconds"`
}

// loaded is how a load has gone.
type loaded struct {
	Requests float64 `json:"requests"`
	Seconds  float64 `json:"seconds"`
	Failed   float64 `json:"failed"` // no answer, or another than 2xx

	// What half and what all but a hundredth of the requests took at the
	// most, in seconds.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func (l loaded) rate() float64 { return l.Requests / l.Seconds }

// put puts load on a server, from another process.
func (b *bench) put(r request, clients int) (loaded, error) {
	l := load{r, clients, b.duration.Seconds()}
	run := b.byClient
	if b.wrk != "" {
		run = b.byWrk
	}
	res, err := run(l)
	if err != nil {
		return res, err
	}
	if res.Failed > 0 || res.Requests == 0 {
		return res, fmt.Errorf("%s %s: of %.0f requests %.0f failed", r.Method, r.Targets[0], res.Requests, res.Failed)
	}
	return res, nil
}

// throughput is a side that counts requests a second that a server answers.
func (b *bench) throughput(pid int, r request, clients int) (side, error) {
	before := processTime(pid)
	l, err := b.put(r, clients)
	return side{l.rate(), (processTime(pid) - before) / l.Requests}, err
}

// latency is a side that tells what half of the requests of one client take
// at the most.
func (b *bench) latency(pid int, r request) (side, error) {
	before := processTime(pid)
	l, err := b.put(r, 1)
	return side{l.P50, (processTime(pid) - before) / l.Requests}, err
}

func (b *bench) byClient(l load) (loaded, error) {
	var res loaded
	c, err := startChild(b.ctx, "client", l)
	if err != nil {
		return res, err
	}
	return res, errors.Join(c.read(&res), c.end())
}

// byWrk has wrk do it, by a script that knows the requests and prints the
// figures. A single request is fixed; several are made before the clock runs.
func (b *bench) byWrk(l load) (loaded, error) {
	dir, err := b.folder()
	if err != nil {
		return loaded{}, err
	}
	defer os.RemoveAll(dir)
	targets := filepath.Join(dir, "targets")
	if err := os.WriteFile(targets, []byte(strings.Join(l.Targets, "\n")), 0o600); err != nil {
		return loaded{}, err
	}
	script := fmt.Sprintf("wrk.method = %q\nwrk.headers['Authorization'] = %q\n", l.Method, "Bearer "+l.Key)
	if l.Body != "" {
		script += fmt.Sprintf("wrk.body = [==[%s]==]\nwrk.headers['Content-Type'] = 'application/json'\n", l.Body)
	}
	if len(l.Targets) > 1 {
		script += fmt.Sprintf(wrkTargets, targets)
	}
	path := filepath.Join(dir, "load.lua")
	if err := os.WriteFile(path, []byte(script+wrkDone), 0o600); err != nil {
		return loaded{}, err
	}
	duration := max(1, int(math.Ceil(l.Seconds)))
	cmd := exec.CommandContext(b.ctx, b.wrk, "-t1", "-c"+strconv.Itoa(l.Clients), "-d"+strconv.Itoa(duration)+"s", "-s", path, "http://"+l.Addr+l.Targets[0])
	out, err := cmd.CombinedOutput()
	if err != nil {
		return loaded{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	var res loaded
	_, figures, _ := bytes.Cut(out, []byte("figures:"))
	if _, err := fmt.Sscan(string(figures), &res.Requests, &res.Seconds, &res.Failed, &res.P50, &res.P99); err != nil {
		return res, fmt.Errorf("wrk printed no figures: %s", out)
	}
	return res, nil
}

const wrkTargets = `
local requests, n = {}, 0
function init()
	for target in io.lines(%q) do requests[#requests + 1] = wrk.format(nil, target) end
end
function request()
	n = n %% #requests + 1
	return requests[n]
end
`

const wrkDone = `
function done(s, latency)
	local e = s.errors
	print(string.format("figures: %d %.6f %d %.6f %.6f", s.requests, s.duration / 1e6,
		e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6))
end
`
