package apikey

import (
	"crypto/sha256"
	"errors"
	"fmt"
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
// call them at the same time, if the file is on a local disk. Both fail if the file is empty or
// malformed. After an error, such as of a full disk, they remove what they have added. A crash,
// and on Windows a full disk, may leave part of a line: remove it by hand.
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
		var contents string
		if _, contents, err = readToChange(path); err == nil {
			err = add(path, contents, line)
		}
	}
	if err != nil {
		return "", Key{}, err
	}
	return secret, key, nil
}

// Revoke revokes the key with an ID, which is not its secret, in the file at path. It
// returns what the file held about the key. A [File] that can read the file refuses the
// key after a second at most.
func Revoke(path, id string) (Key, error) {
	keys, contents, err := readToChange(path)
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return Key{}, fmt.Errorf("%s: no key has this ID; keys list shows the IDs", path)
	}
	return keys[i], add(path, contents, "revoked "+id+"\n")
}

// List returns the keys in the file at path, in its order.
func List(path string) ([]Key, error) {
	keys, _, err := read(path)
	return keys, err
}

// read returns the keys in the file at path, and its contents.
func read(path string) (keys []Key, contents string, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to read it may block forever
		return nil, "", fmt.Errorf("%s: is not a regular file", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if keys, err = parse(string(b)); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return keys, string(b), err
}

// readToChange reads a malformed file again for a second: another process may be adding a line.
func readToChange(path string) (keys []Key, contents string, err error) {
	for range 100 {
		if keys, contents, err = read(path); err == nil || contents == "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return keys, contents, err
}

// add adds a line to the file at path, which had contents, in one write. After an error it
// removes what it has added.
func add(path, contents, line string) error {
	if !strings.HasSuffix(contents, "\n") {
		line = "\n" + line
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
	before := int64(len(contents))
	if info, _ := f.Stat(); err != nil && info != nil && info.Size() == before+int64(n) { // no other process has added a line
		err = errors.Join(err, f.Truncate(before), f.Sync()) // needs no space
	}
	return err
}
