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

// backups answers with copies of the store, one at a time, since each takes as
// much room on the disk as the store.
type backups struct {
	snapshot func(context.Context) (io.ReadCloser, int64, error)
	busy     sync.Mutex
}

// backupStall is how long a client may take to read each 64 KiB of its copy.
// Until the client is done, the copy takes disk space and other backups are
// refused.
const backupStall = 10 * time.Second

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
	c := http.NewResponseController(w)
	for err == nil { // until io.EOF; a client that gets less notices by the length
		_ = c.SetWriteDeadline(time.Now().Add(backupStall))
		_, err = io.CopyN(w, f, 64<<10)
	}
}
