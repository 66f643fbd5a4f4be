package randombody

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// For every seed, a valid body is valid and a faulty one has exactly one fault.
func TestBodies(t *testing.T) {
	kinds := make(map[string]int)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, s := range []Shape{Pet(7, seed%2 == 0), Message()} {
			d := s.Valid(r, " mark")
			if faults := s.Faults(d.String()); len(faults) > 0 {
				t.Errorf("seed %d: a valid body has a fault, %s: %s", seed, faults, d.String())
			}
			if !strings.Contains(d.String(), ` mark"`) || !utf8.ValidString(d.String()) {
				t.Errorf("seed %d: %q", seed, d.String())
			}
			d = s.Faulty(r, " mark")
			faults := s.Faults(d.String())
			if len(faults) != 1 {
				t.Errorf("seed %d: a faulty body has %d faults, %s: %s", seed, len(faults), faults, d.String())
				continue
			}
			kinds[strings.Fields(faults[0])[0]]++
			for _, free := range []bool{true, false} {
				v := AcceptedPet(-7, free).Valid(r, " mark").String()
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

// A body that fails shrinks to a small one that fails and has as many faults.
func TestShrink(t *testing.T) {
	s := Pet(7, true)
	for _, tt := range []struct {
		name  string
		make  func(*rand.Rand, string) Body
		fails func(body string) bool
		want  string
	}{
		{
			name: "a letter", make: s.Valid,
			fails: func(body string) bool { return strings.Contains(body, "龍") },
			want:  `^\{("categoryId":\d,"name":"龍 mark"|"name":"龍 mark","categoryId":\d)\}$`,
		},
		{
			name: "a large number", make: s.Valid,
			fails: func(body string) bool {
				var n int64
				_, after, _ := strings.Cut(body, `"categoryId":`)
				fmt.Sscan(after, &n)
				return n >= 1000
			},
			want: `"categoryId":\d{4}[,}]`,
		},
		{
			name: "any body with a fault", make: s.Faulty,
			fails: func(string) bool { return true },
			want:  ``,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tried := 0
			for seed := range uint64(200) {
				d := tt.make(rand.New(rand.NewPCG(seed, 1)), " mark")
				if !tt.fails(d.String()) {
					continue
				}
				tried++
				before := len(s.Faults(d.String()))
				alike := func(b Body) bool { return len(s.Faults(b.String())) == before }
				small := Shrink(d, alike, func(b Body) (bool, error) { return tt.fails(b.String()), nil })
				if !tt.fails(small.String()) || !alike(small) || small.size() > d.size() || len(small.String()) > 60 ||
					!regexp.MustCompile(tt.want).MatchString(small.String()) {
					t.Errorf("seed %d: %s shrinks to %s, want %s", seed, d, small, tt.want)
				}
			}
			if tried < 10 {
				t.Errorf("only %d bodies failed", tried)
			}
		})
	}
}

func TestShrinkStops(t *testing.T) {
	d := Pet(7, true).Valid(rand.New(rand.NewPCG(1, 1)), " mark")
	keep := func(Body) bool { return true }
	tries := 0
	small := Shrink(d, keep, func(Body) (bool, error) { tries++; return true, errors.New("the target is gone") })
	if small.String() != d.String() || tries != 1 {
		t.Errorf("after an error: %s shrinks to %s with %d tries", d, small, tries)
	}
	tries = 0
	Shrink(d, keep, func(Body) (bool, error) { tries++; return false, nil })
	if tries > maxTries {
		t.Errorf("%d tries, want at most %d", tries, maxTries)
	}
}
