package conformance_test

import (
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// A failure about an element of a list shows the element.
func TestOffendingElement(t *testing.T) {
	// The pet 19 of 30 is sold: the fifth that is.
	changePet := func(change func(object)) wrapper {
		return objects(list, 200, func(o object) {
			if string(o["id"]) == "19" {
				change(o)
			}
		})
	}
	for _, tt := range []struct {
		check string
		http  wrapper
		want  string // part of the message
	}{
		{"pets.list.pet", changePet(func(o object) { delete(o, "name") }), "not a Pet: name: missing\nelement 18 of the list: {"},
		{"pets.list.filter.sold.only", changePet(func(o object) { o["status"] = quoted("lost") }), "status: is \"lost\"\nelement 4 of the list: {"},
		{"pets.list.filter.sold.only", changePet(func(o object) { delete(o, "status") }), "status: missing\nelement 4 of the list: {"},
		{"pets.list.ids", changePet(func(o object) { o["id"] = quoted("7")[1:2] }), "have the id 7\nelement 1 of the list: {"},
		{"pets.list.same", objects(list, 200, func(o object) {
			if strings.HasPrefix(string(o["name"]), `"conformance-`) {
				o["categoryId"] = o["id"]
			}
		}), "categoryId is "},
	} {
		t.Run(tt.check, func(t *testing.T) {
			got := result(t, run(t, variant{http: tt.http, pets: filled(30)}, conformance.Options{Run: []string{tt.check}}), tt.check)
			_, element, ok := strings.Cut(got.Message, " of the list: {")
			if got.Verdict != conformance.Fail || !strings.Contains(got.Message, tt.want) || !ok || !strings.Contains(element, `"categoryId":`) {
				t.Errorf("%s: %s", got.Verdict, got.Message)
			}
		})
	}
}

// An element that is cut inside the key does not show a part of the key.
func TestElementHidesTheKey(t *testing.T) {
	for pad := 300; pad <= 400; pad += 20 { // one is cut within the key
		echo := objects(list, 200, func(o object) {
			o["name"], o["status"] = quoted(strings.Repeat("x", pad)+testKey), quoted("lost")
		})
		got := result(t, run(t, variant{http: echo}, conformance.Options{Run: []string{"pets.list.pet"}}), "pets.list.pet")
		if got.Verdict != conformance.Fail || strings.Contains(got.Message, testKey[:4]) {
			t.Errorf("%s: %s", got.Verdict, got.Message)
		}
	}
}
