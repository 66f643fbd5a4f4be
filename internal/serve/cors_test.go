package serve

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestAllowOrigins(t *testing.T) {
	tests := []struct {
		name, flag, method, origin, requestMethod string
		allowed                                   string // Access-Control-Allow-Origin
		preflight, vary                           bool
	}{
		{"off", "", "GET", "https://a.example", "", "", false, false},
		{"off, preflight", "", "OPTIONS", "https://a.example", "POST", "", false, false},
		{"first origin", "https://a.example,https://b.example", "GET", "https://a.example", "", "https://a.example", false, true},
		{"second origin", "https://a.example,https://b.example", "POST", "https://b.example", "", "https://b.example", false, true},
		{"preflight", "https://a.example", "OPTIONS", "https://a.example", "POST", "https://a.example", true, true},
		{"OPTIONS that is no preflight", "https://a.example", "OPTIONS", "https://a.example", "", "https://a.example", false, true},
		{"other origin", "https://a.example", "GET", "https://a.example.evil.example", "", "", false, true},
		{"other origin, preflight", "https://a.example", "OPTIONS", "https://evil.example", "GET", "", false, true},
		{"no web page", "https://a.example", "GET", "", "", "", false, true},
		{"origin null", "https://a.example", "GET", "null", "", "", false, true},
		{"every origin", "*", "GET", "null", "", "*", false, true},
		{"every origin, preflight", "*", "OPTIONS", "https://a.example", "GET", "*", true, true},
	}
	for _, tt := range tests {
		handler := allowOrigins((&config{cors: tt.flag}).origins(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
		r := httptest.NewRequest(tt.method, "/pets/1", nil)
		for field, value := range map[string]string{"Origin": tt.origin, "Access-Control-Request-Method": tt.requestMethod} {
			if value != "" {
				r.Header.Set(field, value)
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		h := w.Header()
		if preflight := w.Code == http.StatusNoContent; preflight != tt.preflight || w.Body.Len() > 0 {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
		if got := h.Get("Access-Control-Allow-Origin"); got != tt.allowed {
			t.Errorf("%s: Access-Control-Allow-Origin: %q, want %q", tt.name, got, tt.allowed)
		}
		if got := slices.Contains(h.Values("Vary"), "Origin"); got != tt.vary {
			t.Errorf("%s: Vary: Origin is %v", tt.name, got)
		}
		if got := h.Get("Access-Control-Allow-Headers") != ""; got != tt.preflight {
			t.Errorf("%s: Access-Control-Allow-Headers is %v", tt.name, got)
		}
		if got := h.Get("Access-Control-Expose-Headers") == "*"; got != (tt.allowed != "" && !tt.preflight) {
			t.Errorf("%s: Access-Control-Expose-Headers is %v", tt.name, got)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: credentials are allowed", tt.name)
		}
	}
}
