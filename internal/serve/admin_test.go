package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A backup is refused while another is made.
func TestBackupBusy(t *testing.T) {
	s := newCounting()
	s.config = new(config)
	s.store.Backup = func(context.Context) (io.ReadCloser, int64, error) {
		return io.NopCloser(strings.NewReader("copy")), 4, nil
	}
	backup := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.adminHandler(false).ServeHTTP(w, httptest.NewRequest("GET", "/backup", nil))
		return w
	}
	s.copying.Lock()
	if w := backup(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	s.copying.Unlock()
	if w := backup(); w.Code != http.StatusOK || w.Body.String() != "copy" || w.Header().Get("Content-Length") != "4" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
