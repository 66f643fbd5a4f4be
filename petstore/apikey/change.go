package apikey

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"example.com/animalstore/internal/newfile"
)

// Create makes a key for an account and adds it to the file at path. It returns
// the secret that a client sends, which cannot be restored from the file, and what the
// file holds about the key. The error for a bad account has petstore.CodeInvalid.
//
// If there is no file, Create makes it, for its owner only. Its directory must exist.
//
// Create and [Revoke] add a line to the end of the file, and sync it. Several processes may
// call them at the same time, if the file is on a local disk that is not full. Both fail if
// the file is empty, malformed or, for a moment, half written by another process. After an
// error, such as of a full disk, they remove what they have added. A crash, and on Windows a
// full disk, may leave part of a line: remove it by hand.
func Create(path, account string) (secret string, key Key, err error) {
	if !validAccount.MatchString(account) {
		return "", Key{}, errAccount
	}
	secret = newSecret()
	key = newKey(sha256.Sum256([]byte(secret)), account, time.Now().Truncate(time.Second))
	line := fmt.Sprintf("%x %s %s\n", key.hash, account, key.Created.Format(time.RFC3339))
	err = newfile.Create(path, func(f *os.File) error {
		_, err := f.WriteString(line)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		err = add(path, line)
	}
	if err != nil {
		return "", Key{}, err
	}
	return secret, key, nil
}

// ErrNotFound says that no key has the ID.
var ErrNotFound = errors.New("no key has this ID")

// Revoke revokes the key with an ID, which is not its secret, in the file at path. It
// returns what the file held about the key. A [File] that can read the file refuses the
// key after a second at most. The error wraps [ErrNotFound] if no key has the ID.
func Revoke(path, id string) (Key, error) {
	keys, err := List(path)
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return Key{}, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	return keys[i], add(path, "revoked "+id+"\n")
}

// List returns the keys in the file at path, in its order.
func List(path string) ([]Key, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to read it may block forever
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	contents, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, string(contents))
}

// add adds a line to the well-formed file at path, in one write. After an error it removes
// what it has added.
func add(path, line string) error {
	if _, err := List(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.WriteString(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil || n == 0 {
		return err
	}
	end, err2 := f.Seek(0, io.SeekCurrent)
	if info, _ := f.Stat(); info != nil && info.Size() == end { // no other process has added a line since
		err2 = errors.Join(f.Truncate(end-int64(n)), f.Sync()) // needs no space
	}
	return errors.Join(err, err2)
}
