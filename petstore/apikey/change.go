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

	"example.com/animalstore/internal/files"
	"example.com/animalstore/petstore"
)

// Create makes a key for an account and adds it to the file at path. It returns
// the secret that a client sends, which cannot be restored from the file, and what the
// file holds about the key. The error for a bad account has petstore.CodeInvalid.
//
// If there is no file, Create makes it, for its owner only. Its directory must exist.
//
// Create and [Revoke] add a line to the end of the file, and sync it. Several processes may
// call them at the same time, but not on Windows. Both fail if the file is empty or malformed.
// After an error, such as of a full disk, they remove what they have added. A crash, and on
// Windows a full disk, may leave part of a line: remove it by hand.
func Create(path, account string) (secret string, key Key, err error) {
	secret = newSecret()
	fields := []string{fmt.Sprintf("%x", sha256.Sum256([]byte(secret))), account, time.Now().UTC().Format(time.RFC3339)}
	if key, err = parseKey(fields); err != nil {
		return "", Key{}, petstore.Errorf(petstore.CodeInvalid, "account: must be 1 to 128 letters, digits and . _ @ + - and start with a letter or digit")
	}
	line := strings.Join(fields, " ") + "\n"
	err = files.Create(path, func(f *os.File) error {
		_, err := f.WriteString(line)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		err = add(path, func([]Key) (string, error) { return line, nil })
	}
	if err != nil {
		return "", Key{}, err
	}
	return secret, key, nil
}

// Revoke revokes the key with an ID, which is not its secret, in the file at path. It
// returns what the file held about the key. A [File] that can read the file refuses the
// key after a second at most.
func Revoke(path, id string) (key Key, err error) {
	err = add(path, func(keys []Key) (string, error) {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
		if i < 0 {
			return "", fmt.Errorf("%s: no key has this ID; keys list shows the IDs", path)
		}
		key = keys[i]
		return "revoked " + id + "\n", nil
	})
	return key, err
}

// List returns the keys in the file at path, in its order.
func List(path string) ([]Key, error) {
	keys, _, err := read(path)
	return keys, err
}

// read is List, with the file's contents.
func read(path string) (keys []Key, contents string, err error) {
	if err := files.CheckRegular(path); err != nil {
		return nil, "", err
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

// add adds the line that line returns for the keys in the file at path. After an error it removes
// what it has added.
func add(path string, line func(keys []Key) (string, error)) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0) // of a FIFO it returns at once
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return err
	}
	keys, contents, err := read(path)
	if err != nil {
		return err
	}
	added, err := line(keys)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(contents, "\n") {
		added = "\n" + added
	}
	if _, err = f.WriteString(added); err == nil {
		err = f.Sync()
	}
	if err != nil {
		err = errors.Join(err, f.Truncate(int64(len(contents))), f.Sync()) // needs no space
	}
	return err
}
