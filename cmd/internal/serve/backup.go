package serve

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// backups answers with copies of the store, one at a time, since each takes as
// much room on the disk as the store.
type backups struct {
	snapshot func(context.Context) (io.ReadCloser, int64, error)
	busy     sync.Mutex
}

var errBackup = petstore.Errorf(petstore.CodeUnavailable, "another backup is under way")

func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		return // it says that there is such a thing, and makes none
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
	_, _ = io.Copy(w, f) // a client that is sent less sees so by the length
}
