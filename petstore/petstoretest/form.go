package petstoretest

import (
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object.
type object map[string]jsontext.Value

// edit changes the object that the response is, or the objects of the array that it is,
// and sorts their members by name. change reports whether the response then has the
// difficulty. edit returns false if the response is not one of an operation of the contract.
func (x *exchange) edit(change func([]object) bool) bool {
	objects := make([]object, 1)
	single := json.Unmarshal(x.response, &objects[0]) == nil
	if !single && json.Unmarshal(x.response, &objects) != nil || x.path == "/openapi.json" {
		return false
	}
	if len(objects) == 0 || slices.ContainsFunc(objects, func(o object) bool { return o == nil }) || !change(objects) {
		return false
	}
	var v any = objects
	if single {
		v = objects[0]
	}
	body, err := json.Marshal(v, json.Deterministic(true))
	if err == nil {
		x.response = body
	}
	return err == nil
}

func unknownCode(x *exchange, r *rand.Rand) bool {
	codes := []string{`"E-4711"`, `"petstore.fault/7"`, `"Unbekannt"`, `"INVALID"`}
	return x.status >= 400 && x.edit(func(objects []object) bool {
		objects[0]["code"] = jsontext.Value(codes[r.IntN(len(codes))])
		return true
	})
}

func extraMembers(x *exchange, _ *rand.Rand) bool {
	extra := object{
		"_links": jsontext.Value(`{"self":[1,2]}`),
		"kind":   jsontext.Value(`"thing"`),
		"error":  jsontext.Value(`null`),
		"owner":  jsontext.Value(`{"id":0,"name":"nobody","status":"lost"}`),
	}
	return x.edit(func(objects []object) bool {
		for _, o := range objects {
			for name, value := range extra {
				if o[name] == nil { // an own handler may have it
					o[name] = value
				}
			}
		}
		return true
	})
}

func jsonForm(x *exchange, _ *rand.Rand) bool {
	if !x.edit(func([]object) bool { return true }) {
		return false
	}
	body := jsontext.Value(x.response)
	_ = body.Indent() // edit has written it
	x.response = slices.Concat([]byte("\r\n\t "), body, []byte(" \n\n"))
	return true
}
