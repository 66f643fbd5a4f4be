package refserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// pets calls take with each pet in a file of refserver, in order of IDs.
func pets(path string, take func(petstore.Pet) error) (storage.Exported, error) {
	return export(path, &storage.ExportOptions{}, take)
}

// messages calls take with each queued message in a file of refserver, in the
// order of their ids.
func messages(path string, take func(petstore.Message) error) (storage.Exported, error) {
	return export(path, &storage.ExportOptions{Messages: true}, take)
}

// export exports the file and calls take with each line, decoded.
func export[T any](path string, o *storage.ExportOptions, take func(T) error) (storage.Exported, error) {
	r, w := io.Pipe()
	var done storage.Exported
	ended := make(chan error, 1)
	go func() {
		var err error
		done, err = storage.Export(path, w, o)
		w.CloseWithError(err) // nil: the end of the file
		ended <- err
	}()
	err := lines(r, take)
	_ = r.CloseWithError(err)
	if e := <-ended; err == nil {
		err = e
	}
	return done, err
}

func lines[T any](r io.Reader, take func(T) error) error {
	b := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return err
		}
		if err := take(v); err != nil {
			return err
		}
	}
}
