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

// openKeys opens the API keys of s, and returns a function that closes them. On a
// first start without a key file it creates one with a single key. It prints the
// key of a new store, with a command to try it.
func (p *Program) openKeys(stdout io.Writer, s *server, first bool) (closeKeys func(), err error) {
	if s.keys = s.store.Keys; s.keys != nil {
		if s.store.FirstKey != "" {
			err = p.printFirstKey(stdout, s, "The database had no store, and now holds", s.store.FirstKey)
		}
		return func() {}, err
	}
	path, err := filepath.Abs(s.keyFile)
	if err != nil {
		return nil, err
	}
	none, err := missing(path)
	switch {
	case err != nil:
		return nil, err
	case none && !first:
		return nil, fmt.Errorf("there is a store %s, but there is no key file %s; check the flag, or create a key: %s keys create -keys %s %s", p.StoreFile(), path, p.Name, quoted(path), FirstAccount)
	case none:
		key, _, err := apikey.Create(path, FirstAccount, 0)
		if err != nil {
			return nil, err
		}
		if err := p.printFirstKey(stdout, s, "There was no key file. "+path+" now holds", key); err != nil {
			return nil, fmt.Errorf("%w; remove %s and start again", err, path)
		}
	}
	file, err := apikey.Open(path, s.log)
	if err != nil {
		return nil, err
	}
	s.keys = file
	return func() { _ = file.Close() }, nil
}

// printFirstKey prints the key of a new store, after words about where it is kept.
func (p *Program) printFirstKey(stdout io.Writer, s *server, where, key string) error {
	url, curl, browser := s.public[0].url(), "curl", ""
	if socket := s.public[0].socket(); socket != "" {
		curl += " --unix-socket " + quoted(socket)
	} else if s.page {
		browser = "Or enter the key in a browser, at " + url + "\n\n"
	}
	if _, err := fmt.Fprintf(stdout, firstKeyText, where, p.Name, key, curl, key, url+s.basePath, browser); err != nil {
		return fmt.Errorf("the first key could not be printed: %w", err)
	}
	return nil
}

const firstKeyText = `%s the hash of this API key,
which is not shown again ("%s keys create" makes others):

    %s

Try it:

    %s -H 'Authorization: Bearer %s' %s/pets

%s`
