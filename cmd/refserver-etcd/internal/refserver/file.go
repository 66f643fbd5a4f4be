package refserver

import (
	"encoding/json"
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

// export exports the file and calls take with each record, decoded.
func export[T any](path string, o *storage.ExportOptions, take func(T) error) (storage.Exported, error) {
	r, w := io.Pipe()
	var done storage.Exported
	go func() {
		var err error
		done, err = storage.Export(path, w, o)
		_ = w.CloseWithError(err) // nil: the end of the file
	}()
	for d := json.NewDecoder(r); ; {
		var v T
		err := d.Decode(&v)
		if err == io.EOF {
			return done, nil
		}
		if err == nil {
			err = take(v)
		}
		if err != nil {
			_ = r.CloseWithError(err)
			return storage.Exported{}, err
		}
	}
}
