package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore/apikey"
)

// missing reports whether there is nothing at path. A symbolic link to a file
// that does not exist is not missing: that file may be lost.
func missing(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// firstStart reports whether the server may create the store, and then the key
// file: if both are missing, or with -new-store. It returns an error if the
// server must not start, because the store seems lost or the flags do not fit
// the files.
func (p *Program) firstStart(c *config) (bool, error) {
	if p.StoreFile == nil {
		return true, nil
	}
	store, err := filepath.Abs(p.StoreFile())
	if err != nil {
		return false, err
	}
	// Look for the keys first. Another server that starts now creates them
	// after the store, which must not seem lost.
	noKeys, err := missing(c.keyFile)
	if err != nil {
		return false, fmt.Errorf("-keys: %w", err)
	}
	noStore, err := missing(store)
	switch {
	case err != nil:
		return false, fmt.Errorf("-db: %w", err)
	case noStore && c.mustExist:
		return false, fmt.Errorf("-must-exist: there is no store %s; check -db, and that its volume is mounted", store)
	case noStore && !noKeys && !c.newStore:
		return false, fmt.Errorf("there is no store %s, but there is a key file; check -db, and that its volume is mounted; -new-store makes an empty store", store)
	case !noStore && c.newStore:
		return false, fmt.Errorf("-new-store: there is a store %s; start without -new-store to use it", store)
	}
	return noStore, nil
}

// openKeys opens the key file of s. On a first start without one it creates one
// with a single key, and prints the key with a command to try it.
func (p *Program) openKeys(stdout io.Writer, s *server, first bool) (*apikey.File, error) {
	path, err := filepath.Abs(s.keyFile)
	if err != nil {
		return nil, err
	}
	none, err := missing(path)
	switch {
	case err != nil:
		return nil, err
	case none && !first:
		return nil, fmt.Errorf("there is a store %s, but there is no key file %s; check the flag, or create a key: %s keys create -keys %s %s", p.StoreFile(), path, p.Name, quoted(path), firstAccount)
	case none:
		key, _, err := apikey.Create(path, firstAccount, 0)
		if err != nil {
			return nil, err
		}
		url, curl, browser := s.public[0].url(), "curl", ""
		if socket := s.public[0].socket(); socket != "" {
			curl += " --unix-socket " + quoted(socket)
		} else if s.page {
			browser = "Or enter the key in a browser, at " + url + "\n\n"
		}
		if _, err := fmt.Fprintf(stdout, firstKeyText, path, p.Name, key, curl, key, url+s.basePath, browser); err != nil {
			return nil, fmt.Errorf("the first key could not be printed: %w; remove %s and start again", err, path)
		}
	}
	return apikey.Open(path, s.log)
}

const firstKeyText = `There was no key file. %s now holds the hash of this API key,
which is not shown again ("%s keys create" makes others):

    %s

Try it:

    %s -H 'Authorization: Bearer %s' %s/pets

%s`
