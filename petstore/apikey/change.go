package apikey

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// ErrNoKey is wrapped by the error of [Revoke] for an ID that no key has.
var ErrNoKey = errors.New("no key has this ID")

// Create makes a key for an account and adds it to the file at path. It returns
// the key, which cannot be restored from the file, and its ID. The key is valid
// for lifetime, at least a second, or forever if lifetime is 0. The error for a
// bad account or lifetime has petstore.CodeInvalid.
//
// If there is no file, or an empty one, Create makes it, for its owner only. Its
// directory must exist.
//
// Create and [Revoke] add a line to the end of the file, and sync it. Several
// processes may do so at the same time, on a local disk. They refuse a malformed
// file. A crash may leave part of a line, which makes the file malformed: then
// remove that line.
func Create(path, account string, lifetime time.Duration) (key, id string, err error) {
	key, k, err := New(account, lifetime)
	if err != nil {
		return "", "", err
	}
	_, err = List(path)
	line := strings.Join(k.fields(), " ") + "\n"
	if errors.Is(err, fs.ErrNotExist) {
		line, err = header+line, nil
	}
	if err == nil {
		err = add(path, line)
	}
	if err != nil {
		return "", "", err
	}
	return key, k.ID, nil
}

// Revoke revokes a key in the file at path, and returns what the file held about
// it. A server that has the file open refuses the key within two seconds. If no
// key has the ID, the error wraps [ErrNoKey].
func Revoke(path, id string) (Key, error) {
	keys, err := List(path)
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return Key{}, fmt.Errorf("%s: %w", path, ErrNoKey)
	}
	return keys[i], add(path, "revoked "+id+"\n")
}

// List returns the keys in the file at path, expired ones too, in its order.
func List(path string) ([]Key, error) {
	contents, err := read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, contents)
}

// Copy copies the file at from as it is to a new file at path, for its owner only, and
// syncs that. If there is a file that is not empty, Copy fails with fs.ErrExist.
func Copy(path, from string) error {
	contents, err := read(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		return errors.Join(fmt.Errorf("%s: %w", path, fs.ErrExist), f.Close())
	}
	if _, err = f.WriteString(contents); err != nil {
		_ = f.Truncate(0) // part of it would look like a key file
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// read returns the contents of the file at path. An empty file counts as missing: a
// process that was killed may have left it before its first line.
func read(path string) (string, error) {
	b, err := os.ReadFile(path)
	for tries := 0; err == nil && tries < 5 && !bytes.HasSuffix(b, []byte("\n")); tries++ {
		time.Sleep(10 * time.Millisecond) // another process may be adding a line
		b, err = os.ReadFile(path)
	}
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%s is empty: %w", path, fs.ErrNotExist)
	}
	return string(b), err
}

// header is the first line of a file that Create makes.
const header = "# API keys, one per line: SHA-256 of the key, account, created, expires\n"

// add adds a line to the file at path, or to a new file, in one write.
func add(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n, err := f.WriteString(line)
	if info, e := f.Stat(); err != nil && e == nil {
		_ = f.Truncate(info.Size() - int64(n)) // part of a line, on a full disk
	}
	return errors.Join(err, f.Sync(), f.Close())
}
