package conformance

import (
	"strconv"
	"strings"
)

// noServerErrors sends requests that a client might send by mistake. Only that
// they are not answered with 5xx is judged. None of them looks like an attack:
// a guard in front of the target might shut the whole run out.
func noServerErrors(p *probe) error {
	var requests []request
	for _, q := range []string{
		"limit=0", "limit=-1", "limit=101", "limit=9223372036854775807", "limit=9223372036854775808", "limit=1e9", "limit=abc", "limit=", "limit=%00", "limit=1&limit=2",
		"status=lost", "status=", "status=%00", "status=%FF", "status=sold&status=pending", "status='", "status[]=sold", "status=" + strings.Repeat("a", 2000),
		"%zz", "=", "&&", "cursor=x", "offset=-1", "page=-1",
	} {
		requests = append(requests, get("/pets?"+q))
	}
	for _, id := range []string{
		"abc", "-", "1.5", "1e9", "%00", "%FF", "%27", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "%F0%9F%A6%8A", "null", "undefined", "NaN", "%7B%7D",
	} {
		requests = append(requests, get("/pets/"+id))
	}
	if !p.s.opts.ReadOnly {
		for _, body := range strangeBodies() {
			requests = append(requests, post("/pets", body))
		}
	}
	return p.none5xx(requests)
}

// none5xx says what is wrong if one of the requests is answered with 5xx.
func (p *probe) none5xx(requests []request) error {
	return p.parallel(len(requests), p.s.opts.Parallel, func(p *probe, i int) error {
		x, err := p.do(requests[i])
		if err != nil {
			return err
		}
		if x.status >= 500 {
			return p.unwanted(x, "an answer to the client's error", "the request is a client's error")
		}
		return nil
	})
}

// strangeBodies returns bodies that tend to bring servers down, none of them
// a pet.
func strangeBodies() []string {
	return []string{
		"", " ", "\x00", "\xff\xfe", "{", "}", "[", "]", `"`, "nul", "-", "01", "{}", "[]", "null", "0", `""`,
		`{"name":`, `{"name":"a","categoryId":}`, `{"":""}`, `{"name":"\u`, `{"name":"\ud800`,
		`{"name":{},"categoryId":[]}`, `{"name":[],"categoryId":{}}`,
		`{"name":null,"categoryId":null,"status":null}`,
		`{"categoryId":1e400}`, `{"categoryId":-1e400}`, `{"categoryId":` + strings.Repeat("9", 500) + `}`,
		`{"__proto__":{"name":"a"},"categoryId":1}`, `{"constructor":null}`,
		strings.Repeat("[", 500) + strings.Repeat("]", 500),
		strings.Repeat(`{"name":`, 200) + "1" + strings.Repeat("}", 200),
		`{` + manyMembers(500) + `}`,
	}
}

func manyMembers(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = `"m` + strconv.Itoa(i) + `":0`
	}
	return strings.Join(members, ",")
}
