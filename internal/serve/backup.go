package serve

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// backups responds with copies of the store, one at a time, since each takes as
// much space on the disk as the store.
type backups struct {
	snapshot func(context.Context) (io.ReadCloser, int64, error)
	busy     sync.Mutex
}

var errBackup = petstore.Errorf(petstore.CodeUnavailable, "another backup is being made; try again later")

func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		return // only says that there is such a path
	}
	if !b.busy.TryLock() {
		httpapi.WriteError(w, r, errBackup)
		return
	}
	defer b.busy.Unlock()
	f, size, err := b.snapshot(r.Context())
	if err != nil {
		httpapi.WriteError(w, r, err)
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
