package serve

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"example.com/animalstore/petstore"
)

var errBackup = petstore.Errorf(petstore.CodeUnavailable, "another backup is being made; try again later")

// backup handles GET /backup. It makes one copy at a time, since each takes as much
// space on the disk as the store.
func (s *server) backup(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		return // only says that there is such a path
	}
	if !s.copying.TryLock() {
		s.refuse(w, r, errBackup)
		return
	}
	defer s.copying.Unlock()
	f, size, err := s.store.Snapshot(r.Context())
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	// Until the client has read all of it, the copy takes disk space and other
	// backups are refused. So the client must read each part in time.
	c := http.NewResponseController(w)
	for err == nil { // until io.EOF; the length tells a client that it has not all
		_ = c.SetWriteDeadline(time.Now().Add(progressTimeout))
		_, err = io.CopyN(w, f, 64<<10)
	}
}
