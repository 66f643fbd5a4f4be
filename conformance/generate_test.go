package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is generated as valid is valid and what is generated as faulty has
// exactly one fault, whatever the seed.
func TestGenerated(t *testing.T) {
	kinds := make(map[string]int)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, s := range []shape{petShape(7, seed%2 == 0), messageShape()} {
			d := s.valid(r, " mark")
			if faults := s.faults(d.body()); len(faults) > 0 {
				t.Errorf("seed %d: a valid body has a fault, %s: %s", seed, faults, d.body())
			}
			if !strings.Contains(d.body(), ` mark"`) || !utf8.ValidString(d.body()) {
				t.Errorf("seed %d: %q", seed, d.body())
			}
			d = s.faulty(r, " mark")
			faults := s.faults(d.body())
			if len(faults) != 1 {
				t.Errorf("seed %d: a faulty body has %d faults, %s: %s", seed, len(faults), faults, d.body())
				continue
			}
			kinds[strings.Fields(faults[0])[0]]++
			for _, free := range []bool{true, false} {
				v := validPetShape(-7, free).valid(r, " mark").body()
				if !free && !strings.Contains(v, `"categoryId":-7`) || free && strings.Contains(v, `"categoryId":-`) {
					t.Errorf("seed %d: a category that the target may refuse: %s", seed, v)
				}
			}
		}
	}
	for _, kind := range []string{"it", "name", "categoryId", "status", "message"} {
		if kinds[kind] < 10 {
			t.Errorf("only %d faults are about %s: %v", kinds[kind], kind, kinds)
		}
	}
}

// A body that fails is shrunk to the smallest that fails, and what is wrong
// with it stays so.
func TestShrink(t *testing.T) {
	s := petShape(7, true)
	for _, tt := range []struct {
		name  string
		make  func(*rand.Rand, string) draft
		fails func(body string) bool
		want  string
	}{
		{
			name: "a letter", make: s.valid,
			fails: func(body string) bool { return strings.Contains(body, "龍") },
			want:  `^\{("categoryId":\d,"name":"龍 mark"|"name":"龍 mark","categoryId":\d)\}$`,
		},
		{
			name: "a large number", make: s.valid,
			fails: func(body string) bool {
				var n int64
				_, after, _ := strings.Cut(body, `"categoryId":`)
				fmt.Sscan(after, &n)
				return n >= 1000
			},
			want: `"categoryId":\d{4}[,}]`,
		},
		{
			name: "any body with a fault", make: s.faulty,
			fails: func(string) bool { return true },
			want:  ``,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tried := 0
			for seed := range uint64(400) {
				d := tt.make(rand.New(rand.NewPCG(seed, 1)), " mark")
				if !tt.fails(d.body()) {
					continue
				}
				tried++
				before := len(s.faults(d.body()))
				small, err := shrink(d, violationf(nil, "first"), func(c draft) bool { return len(s.faults(c.body())) == before },
					func(c draft) error {
						if tt.fails(c.body()) {
							return violationf(nil, "%s", c.body())
						}
						return nil
					})
				var v *violation
				if !errors.As(err, &v) || !tt.fails(small.body()) || len(s.faults(small.body())) != before {
					t.Fatalf("seed %d: %s became %s, %v", seed, d.body(), small.body(), err)
				}
				if small.size() > d.size() || len(small.body()) > 60 {
					t.Errorf("seed %d: %s became only %s", seed, d.body(), small.body())
				}
				if !regexp.MustCompile(tt.want).MatchString(small.body()) {
					t.Errorf("seed %d: %s became %s, want %s", seed, d.body(), small.body(), tt.want)
				}
			}
			if tried < 10 {
				t.Errorf("only %d bodies failed", tried)
			}
		})
	}
}

// An error on the way that is no fault of the target ends the search with the
// failure that is known.
func TestShrinkStops(t *testing.T) {
	d := petShape(7, true).valid(rand.New(rand.NewPCG(1, 1)), " mark")
	first := violationf(nil, "first")
	small, err := shrink(d, first, func(draft) bool { return true }, func(draft) error { return unavailablef(nil, "gone") })
	if small.body() != d.body() || err != first {
		t.Errorf("%s became %s, %v", d.body(), small.body(), err)
	}
	n := 0
	shrink(d, first, func(draft) bool { return true }, func(draft) error { n++; return nil })
	if n > shrinkRequests {
		t.Errorf("%d requests were sent", n)
	}
}
