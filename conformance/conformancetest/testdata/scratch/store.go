// Package scratch is a petstore that a user of the suite could write, with the
// standard library alone.
package scratch

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

type pet struct {
	ID         int64   `json:"id"`
	Name       *string `json:"name"`
	CategoryID *int64  `json:"categoryId"`
	Status     *string `json:"status,omitempty"`
}

// Store keeps pets in memory.
type Store struct {
	Key     string
	Largest int // limit; 100 is right

	mu   sync.Mutex
	pets []pet
}

func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, single := strings.CutPrefix(r.URL.Path, "/pets/")
	switch {
	case r.URL.Path != "/pets" && !single:
		fail(w, 404, "no such path")
	case r.Header.Get("Authorization") != "Bearer "+s.Key:
		w.Header().Set("WWW-Authenticate", "Bearer")
		fail(w, 401, "a valid key is required")
	case single && (r.Method == "GET" || r.Method == "HEAD"):
		s.get(w, id)
	case !single && (r.Method == "GET" || r.Method == "HEAD"):
		s.list(w, r)
	case !single && r.Method == "POST":
		s.create(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, 405, "no such method")
	}
}

func (s *Store) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := 20
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > 100 {
			fail(w, 400, "limit: must be from 1 to 100")
			return
		}
		limit = min(n, s.Largest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []pet{}
	for _, p := range s.pets {
		if len(found) < limit && (!q.Has("status") || p.Status != nil && *p.Status == q.Get("status")) {
			found = append(found, p)
		}
	}
	respond(w, 200, found)
}

func (s *Store) create(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, 400, "the body cannot be read")
		return
	}
	var p pet
	if err := json.Unmarshal(b, &p); err != nil {
		fail(w, 400, err.Error())
		return
	}
	var members map[string]json.RawMessage
	json.Unmarshal(b, &members)
	switch {
	case p.Name == nil || p.CategoryID == nil:
		fail(w, 400, "name and categoryId are required")
		return
	case members["status"] != nil && (p.Status == nil || *p.Status != "available" && *p.Status != "pending" && *p.Status != "sold"):
		fail(w, 400, "status: must be available, pending or sold")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ID = int64(len(s.pets)) + 1
	s.pets = append(s.pets, p)
	w.Header().Set("Location", "pets/"+strconv.FormatInt(p.ID, 10))
	respond(w, 201, p)
}

func (s *Store) get(w http.ResponseWriter, text string) {
	id, err := strconv.ParseInt(text, 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || id < 1 || id > int64(len(s.pets)) {
		fail(w, 404, "no such pet")
		return
	}
	w.Header().Set("Deprecation", "@1795132800")
	w.Header().Set("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT")
	respond(w, 200, s.pets[id-1])
}

func fail(w http.ResponseWriter, status int, message string) {
	respond(w, status, map[string]any{"code": "error", "message": message, "status": status})
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
