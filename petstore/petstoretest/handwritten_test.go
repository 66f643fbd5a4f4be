package petstoretest_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// handwritten is a correct client on top of net/http, as somebody writes it who
// knows only the contract and HTTP. The last three fields each break it.
type handwritten struct {
	base, key string

	once     bool                // sends a creation only once
	onlyHere bool                // sends the query of a link that leads elsewhere to its own server
	edit     func(*http.Request) // changes every request
	hasty    bool                // repeats at once
	trusts   bool                // sends the key to any host
}

type pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
}

var errElsewhere = errors.New("a link leads to another server")

// call sends a request until it succeeds or cannot succeed, and decodes the body.
func (c handwritten) call(method, target string, in, out any) (http.Header, error) {
	if !c.trusts && !strings.HasPrefix(target, c.base+"/") {
		return nil, errElsewhere
	}
	once := rand.Text()
	for again := 0; ; again++ {
		resp, body, err := c.send(method, target, once, in)
		wait := 5 * time.Millisecond
		switch {
		case err != nil: // no response, or not all of it
		case resp.StatusCode < 300:
			return resp.Header, json.Unmarshal(body, out)
		default:
			err = fmt.Errorf("%s: %s", resp.Status, body)
			if resp.StatusCode >= 300 && resp.StatusCode < 500 && resp.StatusCode != 429 {
				return nil, err
			}
			if !c.hasty {
				wait = max(wait, retryAfter(resp))
			}
		}
		time.Sleep(wait)
		if again == 9 || c.once && method == "POST" {
			return nil, err
		}
	}
}

func (c handwritten) send(method, target, once string, in any) (*http.Response, []byte, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequest(method, target, bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", once)
	}
	if c.edit != nil {
		c.edit(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// retryAfter returns how long a response asks to wait.
func retryAfter(resp *http.Response) time.Duration {
	field := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(field); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, _ := http.ParseTime(field)
	return time.Until(date)
}

var nextLink = regexp.MustCompile(`<([^>]*)>; *rel="?next"?`)

// list returns the pets of all pages.
func (c handwritten) list() (all []pet, err error) {
	target, err := url.Parse(c.base + "/pets?limit=7")
	for err == nil {
		var header http.Header
		var page []pet
		if header, err = c.call("GET", target.String(), nil, &page); err != nil {
			break
		}
		all = append(all, page...)
		next := nextLink.FindStringSubmatch(header.Get("Link"))
		if next == nil {
			break
		}
		if target, err = target.Parse(next[1]); err == nil && c.onlyHere {
			target, err = url.Parse(c.base + "/pets?" + target.RawQuery)
		}
	}
	return all, err
}

func (c handwritten) create(p pet) (pet, error) {
	_, err := c.call("POST", c.base+"/pets", p, &p)
	return p, err
}

func (c handwritten) submit(text string) error {
	_, err := c.call("POST", c.base+"/messages", map[string]string{"message": text}, new(any))
	return err
}

// job adds pets, lists all, and submits messages.
func (c handwritten) job(prefix string) error {
	var errs []error
	for i := range 30 {
		_, err := c.create(pet{Name: fmt.Sprint(prefix, i), CategoryID: math.MaxInt64 - int64(i)})
		errs = append(errs, err)
	}
	if _, err := c.list(); !errors.Is(err, errElsewhere) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.submit(prefix+"message 1"), c.submit(prefix+"message 2"))...)
}
