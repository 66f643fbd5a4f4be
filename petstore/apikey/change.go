package apikey

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
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
// the file is malformed. After an error, such as of a full disk, they remove what they have
// added. A crash, and on Windows a full disk, may leave part of a line: remove it by hand.
func Create(path, account string) (secret string, key Key, err error) {
	if !validAccount.MatchString(account) {
		return "", Key{}, errAccount
	}
	if _, err := List(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errEmpty) {
		return "", Key{}, err
	}
	secret = newSecret()
	key = newKey(sha256.Sum256([]byte(secret)), account, time.Now().Truncate(time.Second))
	line := fmt.Sprintf("%x %s %s", key.hash, account, key.Created.Format(time.RFC3339))
	err = newfile.Create(path, func(f *os.File) error {
		_, err := f.WriteString(line + "\n")
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
	return keys[i], add(path, "revoked "+id)
}

// List returns the keys in the file at path, in its order.
func List(path string) ([]Key, error) {
	contents, _, err := read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, contents)
}

// errEmpty is the error of reading an empty file. It may have been emptied by mistake, so
// it is not a file without keys.
var errEmpty = errors.New("the file is empty; copy it from a backup, or add a new key with refserver keys create")

// read returns the contents of the file at path, and what it was before it was read.
func read(path string) (contents string, info os.FileInfo, err error) {
	if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() { // to read it may block forever
		return "", nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	b, err := os.ReadFile(path)
	for tries := 0; err == nil && tries < 5 && halfWritten(string(b)); tries++ {
		time.Sleep(10 * time.Millisecond)
		b, err = os.ReadFile(path)
	}
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%s: %w", path, errEmpty)
	}
	return string(b), info, err
}

// halfWritten reports whether another process may be adding the last line.
func halfWritten(contents string) bool {
	if strings.HasSuffix(contents, "\n") {
		return false
	}
	_, err := parse("", contents)
	return err != nil
}

// add adds a line to the file at path, in one write. After an error it removes what it has
// added.
func add(path, line string) error {
	contents, _, err := read(path)
	if err != nil && !errors.Is(err, errEmpty) {
		return err
	}
	line += "\n"
	if contents != "" && !strings.HasSuffix(contents, "\n") {
		line = "\n" + line // after a last line without a newline
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
