package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
)

// TestMain makes the test binary the command too, for tests that need a process
// with its own outputs.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_TEST_RUN") != "" {
		main()
	}
	os.Exit(process.Main(m))
}

// A report replaces only a regular file, is not mixed with other output, and
// changes nothing until the run has ended.
//
// The scripts name devices only through links: a failing test must not replace
// a device.
func TestReportPlaces(t *testing.T) {
	target := newTarget(t, false)
	for _, tt := range []struct {
		name   string
		script string // c PATH is conformance run -report json=PATH
		place  string // of the report; "": no report
		code   int
		says   string // what the script prints
	}{
		{"no file", `c report`, "report", 0, "\npartial: "},
		{"file", `seq 100000 >report; exec 3<report; c report; test "$(wc -l <&3)" = 100000`, "report", 0, "\npartial: "},
		{"link to a file", `seq 100000 >target; ln -s target report; c report; test -L report`, "target", 0, "\npartial: "},
		{"link to no file", `ln -s target report; c report; test -L report`, "target", 0, "\npartial: "},
		{"link to a file, the run fails", `echo old >target; ln -s target report; PETSTORE_API_KEY=wrong; c report || test $? = 3; test "$(cat target)" = old`, "", 0, "does not accept the API key"},
		{"FIFO", `mkfifo report; timeout 60 cat report >got & c report; test -p report; wait`, "got", 0, "\npartial: "},
		{"device", `ln -s /dev/null report; c report; test -c report`, "", 0, "\npartial: "},
		{"full device", `ln -s /dev/full report; c report`, "", 2, "report cannot be written"},
		{"full device, and a file", `ln -s /dev/full report; c report got`, "got", 2, "report cannot be written"},
		{"standard output", `c - >got; test ! -e -`, "got", 0, "\npartial: "},
		{"standard output by its device", `ln -s /proc/self/fd/1 report; c report | cat >got; test -L report`, "got", 0, "\npartial: "},
		{"standard output by its device, a file", `ln -s /proc/self/fd/1 report; echo kept >both; c report >>both; test -L report; head -n1 both; tail -n+2 both >got`, "got", 0, "kept\n"},
		{"standard error by its device, a file", `ln -s /proc/self/fd/2 report; echo kept >both; c report 2>>both; test -L report; head -n1 both; tail -n+2 both >got`, "got", 0, "kept\n"},
		{"file named -", `c ./-`, "-", 0, "\npartial: "},
		{"folder", `mkdir report; c report`, "", 2, "is a directory"},
		{"link to a folder", `mkdir folder; ln -s folder report; c report`, "", 2, "is a directory"},
		{"missing folder", `c no/report`, "", 2, "no/report cannot be written"},
		{"read-only folder", `c /sys/report`, "", 2, "/sys/report cannot be written"}, // to root too
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := process.Command(t.TempDir(), "sh", "-ec", `c() { CONFORMANCE_TEST_RUN=1 "$0" run -url "$URL" -read-only -report "json=$1" ${2:+-report "json=$2"} && code=0 || code=$?; test $code != 4 || code=0; return $code; }; `+tt.script, os.Args[0])
			cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+testserver.Key, "URL="+target)
			code, stdout, stderr := process.Run(t, cmd)
			if code != tt.code || !strings.Contains(stdout+stderr, tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tt.code, tt.says, stdout, stderr)
			}
			if tt.place == "" {
				return
			}
			b := process.ReadFile(t, filepath.Join(cmd.Dir, tt.place))
			var report struct{ Outcome conformance.Outcome }
			if err := json.Unmarshal(b, &report, json.MatchCaseInsensitiveNames(true)); err != nil || report.Outcome != conformance.Partial {
				t.Errorf("%s holds %q, %v", tt.place, b[:min(len(b), 300)], err)
			}
		})
	}
}
