package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/animalstore/internal/history"
	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore"
)

// do sends a request. Without a whole response, and after a 5xx, the outcome is
// unknown.
func do(ctx context.Context, url string, in history.Request) history.Response {
	method, path, body := "GET", "", ""
	switch {
	case in.Create != "":
		method, path, body = "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1}`, in.Create)
	case in.Get != 0:
		path = fmt.Sprint("/pets/", in.Get)
	default:
		path = fmt.Sprintf("/pets?limit=%d", in.Limit)
		if in.After > 0 {
			path += "&cursor=" + string(petstore.CursorAfter(in.After))
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+testserver.Key)
	if in.Create != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", in.Create)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return history.Response{Unknown: true}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		return history.Response{Unknown: true}
	}
	if in.Get != 0 && resp.StatusCode == http.StatusNotFound {
		return history.Response{}
	}
	out := history.Response{More: resp.Header.Get("Link") != ""}
	var pets []petstore.Pet
	if in.Create != "" || in.Get != 0 {
		pets = make([]petstore.Pet, 1)
		err = json.Unmarshal(b, &pets[0])
		out.ID = pets[0].ID
	} else {
		err = json.Unmarshal(b, &pets)
	}
	if err != nil {
		return history.Response{Names: []string{string(b)}} // which no pet has
	}
	for _, p := range pets {
		out.Names = append(out.Names, p.Name)
	}
	return out
}
