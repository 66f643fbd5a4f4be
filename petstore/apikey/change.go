package apikey

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Create makes a key for an account and adds it to the file at path. It returns
// the secret that a client sends, which cannot be restored from the file, and what the
// file holds about the key. The error for a bad account has petstore.CodeInvalid.
//
// If there is no file, or an empty one, Create makes it, for its owner only. Its
// directory must exist.
//
// Create and [Revoke] add a line to the end of the file, and sync it. Several
// processes may call them at the same time, if the file is on a local disk. Both fail
// if the file is malformed. A crash or a full disk may leave part of a line: remove it by
// hand.
func Create(path, account string) (secret string, key Key, err error) {
	if !validAccount.MatchString(account) {
		return "", Key{}, errAccount
	}
	if _, err := List(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", Key{}, err
	}
	secret = newSecret()
	key = newKey(sha256.Sum256([]byte(secret)), account, time.Now().Truncate(time.Second))
	line := fmt.Sprintf("%x %s %s\n", key.hash, account, key.Created.Format(time.RFC3339))
	if err := write(path, line); err != nil {
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
	return keys[i], write(path, "revoked "+id+"\n")
}

// List returns the keys in the file at path, in its order.
func List(path string) ([]Key, error) {
	contents, _, err := read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, contents)
}

// read returns the contents of the file at path, and what it was before it was read. An
// empty file counts as missing: a process that was killed may have left it before its
// first line.
func read(path string) (contents string, info os.FileInfo, err error) {
	if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() { // to read it may block forever
		return "", nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	b, err := os.ReadFile(path)
	for tries := 0; err == nil && tries < 5 && !bytes.HasSuffix(b, []byte("\n")); tries++ {
		time.Sleep(10 * time.Millisecond) // another process may be adding a line
		b, err = os.ReadFile(path)
	}
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%s is empty, which counts as missing: %w", path, fs.ErrNotExist)
	}
	return string(b), info, err
}

// write adds lines to the file at path, or to a new file, in one write.
func write(path, lines string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Sync(), f.Close())
}
