package serve

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// brokenFile refuses every write until it is repaired.
type brokenFile struct {
	refused chan string // receives what is refused; nil: repaired
	strings.Builder
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if f.refused != nil {
		f.refused <- string(p)
		return 0, errors.New("no space left on device")
	}
	return f.Builder.Write(p)
}

// Lines that a full disk refuses are counted, and the count is logged later.
func TestLogThatCannotBeWritten(t *testing.T) {
	out := &brokenFile{refused: make(chan string)}
	q := newLogQueue(out, (&config{logFormat: "json"}).logHandler)
	for i := range 3 {
		line := fmt.Sprintln("line", i)
		_, _ = q.Write([]byte(line))
		for <-out.refused != line { // skip attempts to log the count
		}
	}
	out.refused = nil
	_, _ = q.Write([]byte("line 3\n"))
	q.close()
	if got := out.String(); !strings.Contains(got, `"level":"WARN"`) || !strings.HasSuffix(got, `"lines":3}`+"\nline 3\n") {
		t.Errorf("the log:\n%s", got)
	}
}
