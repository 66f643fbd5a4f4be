// Package filestore keeps pets in a file, each as a line of JSON, and in memory:
// a petstore.Service to pass to httpapi.New.
package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"example.com/animalstore/petstore"
)

// Store is a petstore.Service for the only process that opens its file.
type Store struct {
	mu   sync.RWMutex
	file *os.File
	pets []petstore.Pet          // the pet with ID n is at n-1
	made map[petstore.Once]int64 // the ID of the pet that a Once created
	err  error                   // of a write, after which it is unknown what is in the file
}

// record is a line of the file.
type record struct {
	Pet  petstore.Pet
	Once petstore.Once
}

// Open opens the store in a file, and creates a missing one.
func Open(name string) (*Store, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, made: map[petstore.Once]int64{}}
	dec := json.NewDecoder(file)
	for {
		end := dec.InputOffset()
		var r record
		switch err := dec.Decode(&r); err {
		case nil:
			s.add(r)
		case io.EOF, io.ErrUnexpectedEOF: // after a crash: half of a pet that was not acknowledged
			_, seekErr := file.Seek(end, io.SeekStart)
			return s, errors.Join(file.Truncate(end), seekErr)
		default:
			return nil, fmt.Errorf("%s: after pet %d: %w", name, len(s.pets), err)
		}
	}
}

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == os.ErrClosed {
		return nil
	}
	s.err = os.ErrClosed
	return s.file.Close()
}

// ready returns an error if the store cannot be used. The caller holds s.mu.
func (s *Store) ready(ctx context.Context) error {
	if err := errors.Join(ctx.Err(), s.err); err != nil {
		return &petstore.Error{Code: petstore.CodeUnavailable, Message: "this cannot be done now; try again later", Err: err}
	}
	return nil
}

func (s *Store) add(r record) {
	s.pets = append(s.pets, r.Pet)
	if !r.Once.IsZero() {
		s.made[r.Once] = r.Pet.ID
	}
}

func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return petstore.Pet{}, err
	}
	if id := s.made[once]; id != 0 {
		if pet := s.pets[id-1]; pet.NewPet == p {
			return pet, nil
		}
		return petstore.Pet{}, petstore.ErrMismatch
	}
	r := record{petstore.Pet{ID: int64(len(s.pets)) + 1, NewPet: p}, once}
	// The pet is on disk before anybody sees it.
	if s.err = json.NewEncoder(s.file).Encode(r); s.err == nil {
		s.err = s.file.Sync()
	}
	if s.err != nil {
		return petstore.Pet{}, s.ready(ctx)
	}
	s.add(r)
	return r.Pet, nil
}
