package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Prefix starts every key, so that people, log filters and secret scanners
// know one when they see it.
const Prefix = "petstore_"

const (
	randomLen   = 32 // bytes
	checksumLen = 3  // bytes; with the random ones a multiple of base32's five
)

// KeyLen is the length of a key: [Prefix] and 56 letters and digits.
const KeyLen = len(Prefix) + (randomLen+checksumLen)*8/5

// keyText is base32 in lower case. It has no character that a shell, a URL or
// a double click treats as anything but a part of a word.
var keyText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Key is what is kept of a key: everything but the key.
type Key struct {
	ID      string            // names the key; unique within a file
	Account string            // whom a request with the key acts for
	SHA256  [sha256.Size]byte // of the key's text
	Created time.Time         // UTC, to the second
	Expires time.Time         // when it stops being valid: UTC, to the second; zero: never
}

// Expired reports whether k is no longer valid at now.
func (k Key) Expired(now time.Time) bool {
	return !k.Expires.IsZero() && !now.Before(k.Expires)
}

// New makes a key for an account: the text to hand to its owner, which cannot
// be had again, and what to keep of it. The key counts from when it is in a
// file ([Add]). A zero expires means never; both times lose what they have
// below the second. The ID is the start of the hash, so that whoever has a key
// can find its line.
//
// It fails if the account's name cannot be one (1 to 128 of the letters A to Z
// and a to z, digits and . _ @ + -, the first a letter or a digit) and if
// expires is not after created.
func New(account string, created, expires time.Time) (key string, k Key, err error) {
	if err := checkAccount(account); err != nil {
		return "", Key{}, err
	}
	b := make([]byte, randomLen, randomLen+checksumLen)
	rand.Read(b) // never fails
	key = Prefix + keyText.EncodeToString(append(b, checksum(b)...))
	k = Key{
		Account: account,
		SHA256:  sha256.Sum256([]byte(key)),
		Created: created.UTC().Truncate(time.Second),
	}
	k.ID = hex.EncodeToString(k.SHA256[:6])
	if !expires.IsZero() {
		k.Expires = expires.UTC().Truncate(time.Second)
	}
	return key, k, k.check()
}

// checksum returns what follows the random bytes of a key: the start of the
// SHA-256 of the prefix and those bytes.
func checksum(random []byte) []byte {
	sum := sha256.Sum256(append([]byte(Prefix), random...))
	return sum[:checksumLen]
}

// Check reports what is wrong with a key's text: nil for one that [New] may
// have made. It needs no file, so that a client can tell a key that was
// mistyped or cut short before it sends it. The error does not show the key.
func Check(key string) error {
	text, ok := strings.CutPrefix(key, Prefix)
	if !ok {
		return errors.New("not an API key: does not start with " + Prefix)
	}
	if len(key) != KeyLen {
		return fmt.Errorf("not an API key: %d characters long, not %d", len(key), KeyLen)
	}
	b, err := keyText.DecodeString(text)
	if err != nil || len(b) != randomLen+checksumLen {
		return errors.New("not an API key: has a character that keys do not have")
	}
	if string(checksum(b[:randomLen])) != string(b[randomLen:]) {
		return errors.New("mistyped API key: its checksum does not match")
	}
	return nil
}

// check reports why k cannot be kept, naming the field and never its value,
// which might be a key in the wrong place.
func (k Key) check() error {
	if err := checkName("id", k.ID, 32); err != nil {
		return err
	}
	if err := checkAccount(k.Account); err != nil {
		return err
	}
	for _, t := range []time.Time{k.Created, k.Expires} {
		if y := t.UTC().Year(); y < 0 || y > 9999 {
			return errors.New("time: must lie in the years 0 to 9999")
		}
	}
	if !k.Expires.IsZero() && !k.Expires.After(k.Created) {
		return errors.New("expiry: must be after the time of creation")
	}
	return nil
}

// maxAccountLen is enough for a name, an identifier or an ordinary e-mail
// address.
const maxAccountLen = 128

func checkAccount(account string) error { return checkName("account", account, maxAccountLen) }

// checkName keeps names to characters that need no quoting anywhere they
// turn up: in the key file, in logs, on a command line.
func checkName(what, name string, max int) error {
	if name == "" || len(name) > max {
		return fmt.Errorf("%s: must have 1 to %d characters", what, max)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && strings.IndexByte("._@+-", c) >= 0:
		default:
			return fmt.Errorf("%s: must consist of letters, digits and . _ @ + - and start with a letter or digit", what)
		}
	}
	return nil
}
