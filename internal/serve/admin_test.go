package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Two servers in a process count for themselves.
func TestVars(t *testing.T) {
	for _, want := range []int{1, 2} {
		store := memory.New(nil)
		s := &server{config: new(config), store: &Store{Queue: store, Statistics: store}, admin: new(endpoint)}
		handler := s.adminHandler(true)
		for range want {
			s.observer()(t.Context(), httpapi.Observation{Status: http.StatusOK})
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/debug/vars", nil))
		var got struct {
			Responses map[string]int `json:"responses"`
			Memstats  map[string]any `json:"memstats"`
			Cmdline   []string       `json:"cmdline"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Responses["2xx"] != want || len(got.Memstats) == 0 || len(got.Cmdline) == 0 {
			t.Errorf("counted %v, want %d; %s", got.Responses, want, w.Body)
		}
	}
}
