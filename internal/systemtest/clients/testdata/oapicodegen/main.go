// Command oapicodegen is a careful client on top of code that oapi-codegen generates. It
// repeats a creation with the same key and waits as long as it is asked to. It follows a
// link only to its own server. It does the job of ../../npm/job.mjs.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/internal/systemtest/clients/testdata/oapicodegen/petapi"
)

var base, key = os.Getenv("PETSTORE_URL"), os.Getenv("PETSTORE_KEY")

// doer sends a request until it gets a whole response, at most five times.
type doer struct{}

func (doer) Do(r *http.Request) (resp *http.Response, err error) {
	r.Header.Set("Authorization", "Bearer "+key)
	for range 5 {
		if r.GetBody != nil {
			r.Body, _ = r.GetBody()
		}
		wait := 20 * time.Millisecond
		if resp, err = http.DefaultClient.Do(r); err == nil {
			var body []byte
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(body))
			if err == nil && resp.StatusCode < 429 {
				return resp, nil
			}
			after := resp.Header.Get("Retry-After")
			seconds, _ := strconv.Atoi(after)
			date, _ := http.ParseTime(after)
			wait = max(wait, time.Duration(seconds)*time.Second, time.Until(date))
		}
		time.Sleep(wait)
	}
	return resp, err
}

func list() error {
	for next := base + "/pets?limit=10"; strings.HasPrefix(next, base); {
		r, err := http.NewRequest("GET", next, nil)
		if err != nil {
			return err
		}
		resp, err := doer{}.Do(r)
		if err != nil {
			return err
		}
		if _, err := petapi.ParseListPetsResponse(resp); err != nil {
			return err
		}
		link, _, more := strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
		if !more {
			return nil
		}
		u, err := url.Parse(link)
		if err != nil {
			return err
		}
		next = r.URL.ResolveReference(u).String()
	}
	return nil
}

func main() {
	ctx := context.Background()
	c, err := petapi.NewClientWithResponses(base, petapi.WithHTTPClient(doer{}))
	if err != nil {
		panic(err)
	}
	var added []int64
	for i := range 30 {
		once := rand.Text()
		r, err := c.CreatePetWithResponse(ctx, &petapi.CreatePetParams{IdempotencyKey: &once}, petapi.NewPet{Name: fmt.Sprint("pet ", i), CategoryId: int64(i)})
		if err == nil && r.JSON201 != nil {
			added = append(added, r.JSON201.Id)
		}
	}
	if err := list(); err != nil {
		panic(err)
	}
	for _, id := range added {
		if _, err := c.GetPetWithResponse(ctx, id, nil); err != nil {
			panic(err)
		}
	}
	for i := range 3 {
		once := rand.Text()
		// With the difficulty json-form it cannot read a time: time.Time accepts no escapes.
		_, _ = c.SubmitMessageWithResponse(ctx, &petapi.SubmitMessageParams{IdempotencyKey: &once}, petapi.NewMessage{Message: fmt.Sprint("message ", i)})
	}
}
