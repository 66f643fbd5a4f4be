package conformance

import (
	"fmt"
	"strings"
)

// unusualQueries are queries of GET /pets of which the contract does not say what they
// mean. No list may have more than 100 pets.
var unusualQueries = []string{
	"limit=0", "limit=-1", "limit=101", "limit=1000", "limit=9223372036854775808", "limit=99999999999999999999", "limit=1&limit=1000", "limit=1e1", "limit=1.5",
	"limit=abc", "limit=", "limit=%22", "limit=1&limit=2", "limit%5B%5D=1",
	"status=lost", "status=", "status=AVAILABLE", "status=a%22b", "status=a%5Cc", "status=%00", "status=%FF",
	"status='", "status=sold&status=pending", "status=" + strings.Repeat("a", 96), "status%5B%5D=sold",
	"%zz", "=", "cursor=x", "offset=-1", "page=-1", "color=red",
}

// missingIDs are IDs that hardly a pet has.
var missingIDs = []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}

// notIDs are not IDs. $I stands for the ID of a pet.
var notIDs = []string{
	"9223372036854775808", "-9223372036854775809", "10000000000000000000000000000000000000000",
	"$I%00", "$Iabc", "$I.5", "$I%27", "$I%20or%20so", "$I,$I", "$I-1", "abc$I", "id=$I",
	"abc", "null", "undefined", "NaN", "-", "%00", "%FF", "%22", "%25", "%F0%9F%A6%8A", "1e9",
}

// spellings returns ways to write n that programming languages read, beside its
// decimal digits. They are escaped. If n is not positive, there are none.
func spellings(n int64) []string {
	if n <= 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("0x%x", n), fmt.Sprintf("%%2B%d", n), fmt.Sprintf("%de0", n), fmt.Sprintf("0%d", n),
		fmt.Sprintf("%d.0", n), fmt.Sprintf("%%20%d", n), fmt.Sprintf("%d%%20", n),
	}
}

// clientFields are the header fields that some clients send instead of the usual ones.
type clientFields struct {
	what string
	fields
}

var clients = []clientFields{
	{"no Accept, Accept-Encoding and User-Agent", fields{"Accept": "", "Accept-Encoding": "", "User-Agent": ""}},
	{"the fields of a browser", fields{
		"Accept":     "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)",
	}},
	{"Accept: */*, and accepts gzip", fields{"Accept": "*/*", "Accept-Encoding": "gzip"}},
	{"Connection: close", fields{"Connection": "close"}},
}
