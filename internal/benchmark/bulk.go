package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

const (
	mostToLoad  = 90 // seconds
	mostForJSON = 3  // bytes of the file for one of the pets' JSON
)

// bulk brings the large number of pets into a new store, once, and weighs
// the file; for orientation it does the same with bbolt alone.
func (b *bench) bulk() ([]row, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "pets.db")
	start, before := time.Now(), processTime(self)
	if err := b.load(path, b.pets); err != nil {
		return nil, err
	}
	n := float64(b.pets)
	our := side{time.Since(start).Seconds(), (processTime(self) - before) / n}
	size, err := fileSize(path)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(path, b.path(b.pets)); err != nil { // for the other figures
		return nil, err
	}
	json, err := jsonBytes(b.pets)
	if err != nil {
		return nil, err
	}
	rows := []row{{
		Figure: fmt.Sprintf("bringing in %s pets", formatCount(b.pets)), Against: "one run, sync and closing included", Unit: inSeconds,
		Reach: limit{atMost, mostToLoad}, Pairs: []pair{{Ours: our}},
	}, {
		Figure: fmt.Sprintf("file of %s pets", formatCount(b.pets)), Against: "their JSON", Unit: inBytes,
		Reach: limit{atMostRatio, mostForJSON}, Pairs: []pair{{side{Value: size}, side{Value: json}}},
	}}
	bolt := filepath.Join(dir, "bolt.db")
	start, before = time.Now(), processTime(self)
	if err := b.loadBolt(bolt); err != nil {
		return rows, err
	}
	their := side{time.Since(start).Seconds(), (processTime(self) - before) / n}
	boltSize, err := fileSize(bolt)
	if err != nil {
		return rows, err
	}
	return append(rows, row{
		Figure: fmt.Sprintf("bringing in %s pets", formatCount(b.pets)), Against: "bbolt alone, id to JSON in one bucket, no index, no checksum", Unit: inSeconds,
		Pairs: []pair{{our, their}}, Note: fmt.Sprintf("bbolt's file, at its default options, has %s", inBytes.format(boltSize)),
	}), os.Remove(bolt)
}

func fileSize(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}

// jsonBytes returns how long the JSON of n pets is.
func jsonBytes(n int64) (float64, error) {
	var total int
	var buf []byte
	for p := range pets(n) {
		var err error
		if buf, err = p.AppendJSON(buf[:0]); err != nil {
			return 0, err
		}
		total += len(buf)
	}
	return float64(total), nil
}

// pets returns what pets are in the store.
func pets(n int64) func(func(petstore.Pet) bool) {
	return func(yield func(petstore.Pet) bool) {
		id := int64(0)
		for a := range newPets(n) {
			if id++; !yield(petstore.Pet{ID: id, NewPet: a}) {
				return
			}
		}
	}
}

// boltBatch is how many records bbolt alone gets in a transaction.
const boltBatch = 50_000

// loadBolt puts the pets into a bbolt file at default options.
func (b *bench) loadBolt(path string) (err error) {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tx *bbolt.Tx
	for p := range pets(b.pets) {
		if tx == nil {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if tx, err = db.Begin(true); err != nil {
				return err
			}
		}
		record, err := p.AppendJSON(nil)
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		bucket, err := tx.CreateBucketIfNotExists(minimalBucket)
		if err == nil {
			err = bucket.Put(binary.BigEndian.AppendUint64(nil, uint64(p.ID)), record)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if p.ID%boltBatch == 0 || p.ID == b.pets {
			if err := tx.Commit(); err != nil {
				return err
			}
			tx = nil
		}
	}
	return nil
}
