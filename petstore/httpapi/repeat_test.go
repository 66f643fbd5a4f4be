package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// TestRepeatedFailures: a lasting failure is logged once. After that, only the
// number of requests that failed in the same way is logged.
func TestRepeatedFailures(t *testing.T) {
	full := &petstore.Error{Code: petstore.CodeFull, Message: "the disk is full"}
	late := &petstore.Error{Code: petstore.CodeUnavailable, Message: "too late"}
	damaged := errors.New("record 7 is damaged")
	synctest.Test(t, func(t *testing.T) {
		var fault error
		s := &server{T: t}
		h := newHandler(faulty{memory.New(nil), func(context.Context) error { return fault }}, testKeys, s.options(nil))
		fail := func(n int, err error, after time.Duration) {
			fault = err
			for range n {
				time.Sleep(after / time.Duration(n))
				record(t, h, httptest.NewRequest("GET", "/pets", nil))
			}
		}
		const first, more = `msg="request failed"`, `msg="more requests failed"`
		count, counted := regexp.MustCompile(`code=insufficient_storage .* requests=(\d+)\n`), 0
		logged := func(when string, lines ...string) {
			t.Helper()
			synctest.Wait()
			got := s.log.take()
			for _, line := range got {
				if m := count.FindStringSubmatch(line); m != nil {
					n, _ := strconv.Atoi(m[1])
					counted += n
				}
			}
			if len(got) != len(lines) {
				t.Fatalf("%s: logged %q, want %d lines", when, got, len(lines))
			}
			for i, want := range lines {
				for part := range strings.SplitSeq(want, ", ") {
					if !strings.Contains(got[i], part) {
						t.Errorf("%s: logged %q, which lacks %q", when, got[i], part)
					}
				}
			}
		}

		fail(1000, full, 5*time.Second)
		logged("the disk is full", first+", code=insufficient_storage")
		fail(2, late, time.Second)
		logged("another failure", first+", code=unavailable")
		fail(2, damaged, time.Second)
		logged("damage", first+", level=ERROR", first+", level=ERROR")
		fail(500, full, 20*time.Second)
		logged("the failure lasts",
			more+`, status=507, code=insufficient_storage, message="the disk is full"`,
			more+", code=unavailable, requests=1",
			more+", code=insufficient_storage")
		time.Sleep(time.Minute)
		logged("the failure is over", more+", code=insufficient_storage")
		if counted != 1499 {
			t.Errorf("%d requests were counted, want 1499: all of 1500 but the first", counted)
		}
		fail(1, full, time.Second)
		logged("the failure is back", first+", code=insufficient_storage")
		time.Sleep(time.Minute)
		logged("a failure that came once")
	})
}
