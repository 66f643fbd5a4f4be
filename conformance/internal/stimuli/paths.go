package stimuli

import (
	"fmt"
	"math/big"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// unusualQueries are queries of GET /pets of which the contract does not say what they
// mean.
var unusualQueries = []string{
	"limit=0", "limit=-1", "limit=101", "limit=1000", "limit=9223372036854775808", "limit=1e1", "limit=1.5",
	"limit=abc", "limit=", "limit=%22", "limit=1&limit=2", "limit%5B%5D=1",
	"status=lost", "status=", "status=AVAILABLE", "status=a%22b", "status=a%5Cc", "status=%00", "status=%FF",
	"status='", "status=sold&status=pending", "status=" + strings.Repeat("a", 96), "status%5B%5D=sold",
	"%zz", "=", "cursor=x", "offset=-1", "page=-1", "color=red",
}

// tooLargeLimits are limits that could make a list have more than 100 pets.
var tooLargeLimits = []string{"101", "1000", "0", "-1", "", "99999999999999999999", "1&limit=1000"}

// escapedQueries returns requests for lists with escapes of letters and digits, which mean the
// same (RFC 3986, section 6.2.2.2).
func escapedQueries() []probe.Request {
	var requests []probe.Request
	for _, q := range []string{"limit=10%30&status=s%6Fld", "lim%69t=%33"} {
		r := probe.Get("/pets?" + q)
		r.Intent.Unusual = "escapes in its query"
		requests = append(requests, r)
	}
	return requests
}

// missingIDs are IDs that hardly a pet has.
var missingIDs = []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}

// notIDs are not IDs. $I stands for the ID of a pet.
var notIDs = []string{
	"9223372036854775808", "-9223372036854775809", "10000000000000000000000000000000000000000",
	"$I%00", "$Iabc", "$I.5", "$I%27", "$I%20or%20so", "$I,$I", "$I-1", "abc$I", "id=$I",
	"abc", "null", "undefined", "NaN", "-", "%00", "%FF", "%22", "%25", "%F0%9F%A6%8A", "1e9",
}

// plus returns id + sign·2^bits in decimal digits.
func plus(id, sign int64, bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(sign), bits)
	return n.Add(n, big.NewInt(id)).String()
}

// spellings returns ways to write a positive integer that programming languages read, beside its
// decimal digits. They are escaped.
func spellings(n int64) []string {
	return []string{
		fmt.Sprintf("0x%x", n), fmt.Sprintf("%%2B%d", n), fmt.Sprintf("%de0", n), fmt.Sprintf("0%d", n),
		fmt.Sprintf("%d.0", n), fmt.Sprintf("%%20%d", n), fmt.Sprintf("%d%%20", n),
	}
}

// clientFields are the header fields that some clients send instead of the usual ones. An empty
// value is no such field.
type clientFields struct {
	what   string
	fields map[string]string
}

var clients = []clientFields{
	{"no Accept, Accept-Encoding and User-Agent", map[string]string{"Accept": "", "Accept-Encoding": "", "User-Agent": ""}},
	{"the fields of a browser", map[string]string{
		"Accept":     "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)",
	}},
	{"Accept: */*, and accepts gzip", map[string]string{"Accept": "*/*", "Accept-Encoding": "gzip"}},
	{"Connection: close", map[string]string{"Connection": "close"}},
}
