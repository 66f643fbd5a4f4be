package petstoretest

import (
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object.
type object map[string]jsontext.Value

// edit changes the object, or the objects of the array, in the body. It returns false if
// there is none.
func (x *exchange) edit(change func([]object)) bool {
	if x.operation() == otherOperation && x.status < 400 { // such as the OpenAPI document
		return false
	}
	objects := make([]object, 1)
	single := json.Unmarshal(x.response, &objects[0]) == nil
	if !single && json.Unmarshal(x.response, &objects) != nil || len(objects) == 0 {
		return false
	}
	change(objects)
	var v any = objects
	if single {
		v = objects[0]
	}
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return false
	}
	x.response = body
	return true
}

func unknownCode(x *exchange, random *rand.Rand) bool {
	codes := []string{`"E-4711"`, `"petstore.fault/7"`, `"Unbekannt"`, `"INVALID"`}
	return x.status >= 400 && x.edit(func(objects []object) {
		objects[0]["code"] = jsontext.Value(codes[random.IntN(len(codes))])
	})
}

func messageStatus(x *exchange, random *rand.Rand) bool {
	if x.status != http.StatusAccepted {
		return false
	}
	x.status = http.StatusOK + random.IntN(2)
	return true
}

func extraMembers(x *exchange, _ *rand.Rand) bool {
	return x.edit(func(objects []object) {
		for _, o := range objects {
			o["_links"] = jsontext.Value(`{"self":[1,2]}`)
			o["kind"] = jsontext.Value(`"thing"`)
			o["error"] = jsontext.Value(`null`)
			o["owner"] = jsontext.Value(`{"id":0,"name":"nobody","status":"lost"}`)
		}
	})
}

func jsonForm(x *exchange, _ *rand.Rand) bool {
	body := jsontext.Value(x.response)
	if body.Format(jsontext.ReorderRawObjects(true), jsontext.WithIndent("\t")) != nil {
		return false
	}
	x.response = slices.Concat([]byte("\r\n\t "), body, []byte(" \n\n"))
	return true
}
