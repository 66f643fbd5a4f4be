package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore"
)

// do sends a request. Without a whole response, and after a 5xx, the outcome is
// unknown.
func do(ctx context.Context, url string, in input) output {
	method, path, body := "GET", "", ""
	switch in.op {
	case "create":
		method, path, body = "POST", "/pets", fmt.Sprintf(`{"name":%q,"categoryId":1}`, in.name)
	case "get":
		path = fmt.Sprint("/pets/", in.id)
	case "list":
		path = fmt.Sprintf("/pets?limit=%d", in.limit)
		if in.id > 0 {
			path += "&cursor=" + string(petstore.CursorAfter(int64(in.id)))
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+testserver.Key)
	if in.op == "create" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", in.name)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return output{unknown: true}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil || resp.StatusCode >= 500:
		return output{unknown: true}
	case in.op == "list":
		var pets []petstore.Pet
		if json.Unmarshal(b, &pets) != nil {
			return output{id: -1}
		}
		o := output{more: resp.Header.Get("Link") != ""}
		for _, p := range pets {
			o.names = append(o.names, p.Name)
		}
		return o
	case in.op == "get" && resp.StatusCode == http.StatusNotFound:
		return output{}
	}
	var p petstore.Pet
	if json.Unmarshal(b, &p) != nil {
		return output{id: -1}
	}
	return output{id: int(p.ID), names: []string{p.Name}}
}
