package conformance_test

import (
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// A failure about an element of a list shows the element.
func TestOffendingElement(t *testing.T) {
	// Pet 19 of 30 is the fifth with the status sold.
	changePet := func(pattern, with string) wrapper { return edit(list, 200, `("id":19,[^{}]*)`+pattern, "$1"+with) }
	for _, tt := range []struct {
		check         string
		http          wrapper
		what, element string // parts of the message
	}{
		{"pets.list.pet", changePet(`"name"`, `"other"`), "not a Pet: name: missing", "18"},
		{"pets.list.filter.sold.only", changePet(`"sold"`, `"lost"`), "its status is lost", "4"},
		{"pets.list.filter.sold.only", changePet(`"status"`, `"other"`), "its status is absent", "4"},
		{"pets.list.ids", edit(list, 200, `"id":19,`, `"id":7,`), "have the id 7", "6"},
		{"pets.list.same", edit(list, 200, `"id":(\d+),"name":"conformance-([^"]*)","categoryId":\d+`, `"id":$1,"name":"conformance-$2","categoryId":1.50E3`), "categoryId is 1.50E3, want ", ""},
	} {
		t.Run(tt.check, func(t *testing.T) {
			got := result(t, run(t, variant{http: tt.http, pets: filled(30)}, conformance.Options{Run: []string{tt.check}}), tt.check)
			_, element, ok := strings.Cut(got.Message, " of the list: {")
			if got.Verdict != conformance.Fail || !strings.Contains(got.Message, tt.what) || !strings.Contains(got.Message, "\nelement "+tt.element) || !ok || !strings.Contains(element, `"categoryId":`) {
				t.Errorf("%s: %s", got.Verdict, got.Message)
			}
		})
	}
}

// An element that is cut inside the key does not show a part of the key.
func TestElementHidesTheKey(t *testing.T) {
	for pad := 300; pad <= 400; pad += 20 { // one is cut within the key
		echo := both(set(list, 200, "name", `"`+strings.Repeat("x", pad)+testKey+`"`), set(list, 200, "status", `"lost"`))
		got := result(t, run(t, variant{http: echo}, conformance.Options{Run: []string{"pets.list.pet"}}), "pets.list.pet")
		if got.Verdict != conformance.Fail || strings.Contains(got.Message, testKey[:4]) {
			t.Errorf("%s: %s", got.Verdict, got.Message)
		}
	}
}
