package history

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
)

// Send sends a request to the server with that URL and API key. If the response is
// not complete, or is a 5xx, it has Unknown set. If it is a 507, it also has None set.
func Send(ctx context.Context, client *http.Client, url, key string, in Request) Response {
	method, path, body := "GET", "", ""
	switch {
	case in.Create != "":
		method, path, body = "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1,"status":"sold"}`, in.Create)
	case in.Get != 0:
		path = fmt.Sprint("/pets/", in.Get)
	default:
		path = fmt.Sprintf("/pets?limit=%d", in.Limit)
		if in.Sold {
			path += "&status=sold"
		}
		if in.After > 0 {
			path += "&cursor=" + string(petstore.CursorAfter(in.After))
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if in.Create != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", in.Create)
	}
	resp, err := client.Do(req)
	if err != nil {
		return Response{Unknown: true}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		return Response{Unknown: true, None: resp.StatusCode == http.StatusInsufficientStorage}
	}
	if in.Get != 0 && resp.StatusCode == http.StatusNotFound {
		return Response{}
	}
	out := Response{More: resp.Header.Get("Link") != ""}
	var pets []petstore.Pet
	if in.Create != "" || in.Get != 0 {
		pets = make([]petstore.Pet, 1)
		err = json.Unmarshal(b, &pets[0])
		out.ID = pets[0].ID
	} else {
		err = json.Unmarshal(b, &pets)
	}
	if err != nil {
		return Response{Names: []string{string(b)}} // which no pet has
	}
	for _, p := range pets {
		out.Names = append(out.Names, p.Name)
	}
	return out
}
