// Package apikey keeps the hashes of API keys in a file, and checks the keys
// that requests carry.
//
// [Create] makes a key and adds it to a file, [List] returns what a file holds,
// and [Revoke] revokes a key. A server calls [Open] and passes the result to
// package petstore/httpapi. A test passes a [Static].
//
// Each line of a file holds the SHA-256 of a key in hexadecimal, the account and
// when the key was created; or the ID of a key on an earlier line that is revoked:
//
//	# alice's laptop
//	5f16…c9b2 alice 2026-11-20T09:30:00Z
//	03ba…77e4 ci@example.com 2026-11-20T09:31:00Z
//	revoked 5f1698b27cd4
//
// Blank lines and lines that start with # are ignored. An empty file is refused, since it may
// have been emptied by mistake. To edit the file of a running server, write another and rename
// it.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Key is what a file holds about a key.
type Key struct {
	ID      string    // the first 12 digits of the hash; unique in the file
	Account string    // the account that requests with the key act for
	Created time.Time // in UTC
	hash    [sha256.Size]byte
}

// prefix starts every key, so that log filters and secret scanners find it.
const prefix = "petstore_"

var validAccount = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`) // needs no quoting anywhere

// newSecret returns a key with 130 random bits, too many to be guessed from a plain
// SHA-256. Twice as many would take two blocks of the hash, and so twice as long to check.
func newSecret() string { return prefix + strings.ToLower(rand.Text()) }

// parse returns the keys in the contents of a file, in their order. It fails if any line is
// bad. Its errors do not quote the line, which may hold a key.
func parse(contents string) (keys []Key, err error) {
	if contents == "" {
		return nil, errors.New("is empty")
	}
	index := make(map[string]int) // of each ID in keys
	for i, line := range strings.Split(contents, "\n") {
		fields := strings.Fields(line) // without the carriage return of some editors
		switch {
		case len(fields) == 0 || fields[0][0] == '#':
		case len(fields) == 2 && fields[0] == "revoked":
			if at, ok := index[fields[1]]; ok {
				keys[at] = Key{} // deleted below
			} else {
				err = errors.New("revoked: no key on an earlier line has this ID")
			}
		default:
			var k Key
			k, err = parseKey(fields)
			if _, twice := index[k.ID]; twice {
				err = errors.New("SHA-256: must differ from that of an earlier line in the first 12 digits")
			}
			index[k.ID] = len(keys)
			keys = append(keys, k)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return slices.DeleteFunc(keys, func(k Key) bool { return k.ID == "" }), nil
}

var errLine = errors.New("must be a SHA-256 (64 hexadecimal digits), an account and a time like 2026-11-20T09:30:00Z")

// parseKey returns the key of a line with those fields.
func parseKey(fields []string) (Key, error) {
	if len(fields) != 3 || !validAccount.MatchString(fields[1]) {
		return Key{}, errLine
	}
	hash, err := hex.DecodeString(fields[0])
	created, err2 := time.Parse(time.RFC3339, fields[2])
	if err != nil || err2 != nil || len(hash) != sha256.Size {
		return Key{}, errLine
	}
	return Key{hex.EncodeToString(hash[:6]), fields[1], created.UTC(), [sha256.Size]byte(hash)}, nil
}
