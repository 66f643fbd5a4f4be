package randombody

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// faults returns what is wrong with a body: "body", or the names of members. It
// shares no code with Faulty.
func faults(s Shape, body string) []string {
	var o map[string]any
	if err := json.Unmarshal([]byte(body), &o, json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		raw, err := d.ReadValue()
		*v = raw.Clone()
		return err
	}))); err != nil {
		return []string{"body"}
	}
	var faults []string
	for _, m := range s {
		v, ok := o[m.name].(jsontext.Value)
		var err error
		switch {
		case !ok && !m.required:
			continue
		case !ok:
		case m.name == "categoryId":
			var n int64
			err = json.Unmarshal(v, &n)
			ok = v.Kind() == '0'
		default:
			ok = v.Kind() == '"'
		}
		if m.name == "status" {
			ok = strings.Contains(`"available" "pending" "sold"`, v.String())
		}
		if !ok || err != nil {
			faults = append(faults, m.name)
		}
	}
	return faults
}

// For every seed, a valid body is valid and a faulty one has exactly one fault.
func TestBodies(t *testing.T) {
	kinds := make(map[string]int)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, s := range []Shape{Pet(-7, seed%2 == 0), Message()} {
			body, _ := s.Valid(r, " mark", 0)
			if found := faults(s, body); len(found) > 0 || !strings.Contains(body, ` mark"`) {
				t.Errorf("seed %d: a valid body has the faults %s: %s", seed, found, body)
			}
			if len(s) == 3 && strings.Contains(body, `"categoryId":-7`) != (seed%2 == 1) {
				t.Errorf("seed %d: a category that the target may refuse: %s", seed, body)
			}
			body, fault := s.Faulty(r, " mark", int(seed))
			found := faults(s, body)
			if len(found) != 1 || found[0] != "body" && !strings.HasPrefix(fault, found[0]+" is ") {
				t.Errorf("seed %d: a body with the fault %q has %s: %s", seed, fault, found, body)
				continue
			}
			kinds[found[0]]++
		}
	}
	for _, kind := range []string{"body", "name", "categoryId", "status", "message"} {
		if kinds[kind] < 10 {
			t.Errorf("only %d faults are about %s: %v", kinds[kind], kind, kinds)
		}
	}
}

// The first bodies of a run have every kind of fault, whatever the seed.
func TestEveryKind(t *testing.T) {
	const bodies = 40
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		var all strings.Builder
		for n := range bodies {
			_, fault := Pet(5, true).Faulty(r, "", n)
			fmt.Fprintln(&all, fault)
		}
		for _, kind := range []string{
			"name is missing", "name is null", `name is \d+`, "categoryId is missing", "categoryId is null", `categoryId is "\d+"`, `categoryId is \d+\.\d`,
			`categoryId is \d{20,}`, `categoryId is -\d{20,}`, `categoryId is \S+e\d+`, "status is true", `status is "[A-Z]+"`, `status is "\w+,"`, `status is \[\d\]`,
			"it is cut short", "x follows the object", "{} follows the object", "null follows the object",
		} {
			if !regexp.MustCompile("(?m)^" + kind + "$").MatchString(all.String()) {
				t.Errorf("seed %d: no fault is %q:\n%s", seed, kind, &all)
			}
		}
		if strings.Contains(all.String(), "status is null") {
			t.Errorf("seed %d: null may mean that the status is absent", seed)
		}
	}
}
