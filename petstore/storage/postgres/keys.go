package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
)

const (
	keysEvery = 500 * time.Millisecond
	keysValid = 2 * time.Second
)

// Keys are the API keys in the database, which all servers share. It implements
// httpapi.Authenticator, and is safe for concurrent use.
//
// It reads all keys twice a second, so it is made for thousands and not for
// millions. A change is known after at most two seconds. If the database does not
// respond for longer, no key can be checked.
type Keys struct {
	store   *Store
	loading sync.Mutex
	failing bool // follow has logged it
	empty   bool // follow has logged it
	set     atomic.Pointer[keySet]
}

// keySet is what the database held.
type keySet struct {
	asked time.Time // the database was asked after this time
	keys  map[[sha256.Size]byte]apikey.Key
}

// Keys reads the API keys, and follows their changes until s is closed.
func (s *Store) Keys(ctx context.Context) (*Keys, error) {
	k := &Keys{store: s}
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	s.every(keysEvery, k.follow)
	return k, nil
}

// follow loads the keys. It logs when every request is refused, and when that is over.
func (k *Keys) follow() {
	err := k.load(k.store.context)
	if k.failing != (err != nil) && k.store.context.Err() == nil {
		if k.failing = err != nil; k.failing {
			k.store.log.Warn("API keys cannot be read: after two seconds every request gets 503", "err", err)
		} else {
			k.store.log.Info("API keys can be read again")
		}
	}
	if none := len(k.set.Load().keys) == 0; none != k.empty {
		if k.empty = none; none {
			k.store.log.Warn("no API key in the database: every request gets 401")
		}
	}
}

func (k *Keys) load(ctx context.Context) error {
	k.loading.Lock()
	defer k.loading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keysValid)
	defer cancel()
	asked := time.Now()
	all, err := k.List(ctx)
	if err != nil {
		return err
	}
	set := &keySet{asked, make(map[[sha256.Size]byte]apikey.Key, len(all))}
	for _, key := range all {
		set.keys[key.Hash] = key
	}
	k.set.Store(set)
	return nil
}

var (
	errUnknownKey = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
	errExpiredKey = petstore.Errorf(petstore.CodeUnauthorized, "expired API key")
	errKeys       = errors.New("the API keys were last read more than two seconds ago")
)

// Authenticate returns the account of a key. The error for an unknown or expired
// key has petstore.CodeUnauthorized. Any other error means that the key cannot be
// checked now.
func (k *Keys) Authenticate(_ context.Context, key string) (account string, err error) {
	set := k.set.Load()
	if time.Since(set.asked) > keysValid {
		return "", errKeys
	}
	found, ok := set.keys[sha256.Sum256([]byte(key))]
	switch {
	case !ok:
		return "", errUnknownKey
	case found.Expired(time.Now()):
		return "", errExpiredKey
	}
	return found.Account, nil
}

// Create makes a key for an account and returns it with its ID, as apikey.New
// does. k accepts it at once, and other processes after at most two seconds.
func (k *Keys) Create(ctx context.Context, account string, lifetime time.Duration) (key, id string, err error) {
	key, made, err := apikey.New(account, lifetime)
	if err != nil {
		return "", "", err
	}
	var expires *time.Time
	if !made.Expires.IsZero() {
		expires = &made.Expires
	}
	err = k.change(ctx, func(tx pgx.Tx) error {
		// An earlier try, whose response was lost, may have inserted it.
		_, err := tx.Exec(ctx, `INSERT INTO petstore.keys (id, hash, account, created, expires) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (hash) DO NOTHING`, made.ID, made.Hash[:], made.Account, made.Created, expires)
		return err
	})
	if err == nil {
		err = k.load(ctx)
	}
	return key, made.ID, err
}

// change changes the keys in a transaction that locks the row, as every commit does. So
// it waits for the standby even if an earlier try has made the change already.
func (k *Keys) change(ctx context.Context, change func(pgx.Tx) error) error {
	return k.store.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT FROM petstore.store FOR UPDATE"); err != nil {
				return err
			}
			forgetNotice(conn)
			return change(tx)
		})
		if err != nil {
			return err
		}
		return k.store.confirmed(conn)
	})
}

// List returns all keys, expired ones too, the oldest first.
func (k *Keys) List(ctx context.Context) (keys []apikey.Key, err error) {
	err = k.store.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		keys, err = selectKeys(ctx, conn, "ORDER BY created, id")
		return err
	})
	return keys, err
}

// Revoke removes a key and returns what was known about it. Every server refuses
// the key after at most two seconds. If no key has the ID, the error wraps
// apikey.ErrNoKey.
func (k *Keys) Revoke(ctx context.Context, id string) (revoked apikey.Key, err error) {
	err = k.change(ctx, func(tx pgx.Tx) error {
		found, err := selectKeys(ctx, tx.Conn(), "WHERE id = $1", id)
		if err != nil {
			return err
		}
		if len(found) > 0 { // otherwise an earlier try may have removed it
			revoked = found[0]
		}
		_, err = tx.Exec(ctx, "DELETE FROM petstore.keys WHERE id = $1", id)
		return err
	})
	if err == nil && revoked.ID == "" {
		err = fmt.Errorf("%w: %s", apikey.ErrNoKey, id)
	}
	return revoked, err
}

// selectKeys returns the keys that the end of a query selects.
func selectKeys(ctx context.Context, conn *pgx.Conn, end string, args ...any) (keys []apikey.Key, err error) {
	rows, err := conn.Query(ctx, "SELECT id, hash, account, created, expires FROM petstore.keys "+end, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (key apikey.Key, err error) {
		var hash []byte
		var expires *time.Time
		if err := row.Scan(&key.ID, &hash, &key.Account, &key.Created, &expires); err != nil {
			return key, err
		}
		if copy(key.Hash[:], hash) != len(key.Hash) {
			return key, damaged("the hash of the API key " + key.ID)
		}
		key.Created = key.Created.UTC()
		if expires != nil {
			key.Expires = expires.UTC()
		}
		return key, nil
	})
}
