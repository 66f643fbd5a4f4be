package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// put is a key that a creation changes in the store's file. What the store
// puts is found out by looking at the file before and after, so that it is
// right whatever the store comes to do.
type put struct {
	Bucket []byte `json:"bucket"`
	Key    []byte `json:"key"`
	Value  []byte `json:"value"`
	New    bool   `json:"new"` // the key was not there before: each pet has its own
}

// putsOf returns what creating p in the store at path puts, and the ID of the
// pet, which is then there.
func putsOf(path string, p petstore.NewPet) ([]put, petstore.Pet, error) {
	before, err := contents(path)
	if err != nil {
		return nil, petstore.Pet{}, err
	}
	s, err := storage.Open(path, nil)
	if err != nil {
		return nil, petstore.Pet{}, err
	}
	pet, err := s.CreatePet(context.Background(), p, petstore.Once{})
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, pet, err
	}
	after, err := contents(path)
	if err != nil {
		return nil, pet, err
	}
	var puts []put
	for at, value := range after {
		old, there := before[at]
		if there && old == value {
			continue
		}
		if !there && len(at.key) != 8 {
			return nil, pet, fmt.Errorf("a creation puts the key %x, which is no ID", at.key)
		}
		puts = append(puts, put{[]byte(at.bucket), []byte(at.key), []byte(value), !there})
	}
	if len(after) < len(before) || len(puts) == 0 {
		return nil, pet, errors.New("a creation does not only add")
	}
	return puts, pet, nil
}

// place is where in a file a value is.
type place struct{ bucket, key string }

// contents returns all that is in the bbolt file at path.
func contents(path string) (map[place]string, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	all := make(map[place]string)
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if v == nil {
					return fmt.Errorf("the bucket %s has another in it", name)
				}
				all[place{string(name), string(k)}] = string(v)
				return nil
			})
		})
	})
	return all, err
}

// putter makes the puts of creation after creation.
type putter struct {
	db   *bbolt.DB
	puts []put

	mu   sync.Mutex
	last int64
}

func (p *putter) create() error {
	p.mu.Lock()
	p.last++
	id := binary.BigEndian.AppendUint64(nil, uint64(p.last))
	p.mu.Unlock()
	return p.db.Update(func(tx *bbolt.Tx) error {
		for _, put := range p.puts {
			key := put.Key
			if put.New {
				key = id
			}
			if err := tx.Bucket(put.Bucket).Put(key, put.Value); err != nil {
				return err
			}
		}
		return nil
	})
}
