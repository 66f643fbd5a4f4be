package postgres

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/internal/rules"
)

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	c := &change{pet: &p}
	if key.Key != "" {
		json, err := petstore.Pet{NewPet: p}.AppendJSON(nil)
		if err != nil {
			return petstore.Pet{}, err
		}
		c.remember(rules.Digest(rules.CreatePet, key), json)
	}
	if err := s.update(ctx, c); err != nil {
		return petstore.Pet{}, err
	}
	return petstore.Pet{ID: c.number, NewPet: p}, nil
}

// remember makes c store its result under a digest, with the hash of the value.
func (c *change) remember(digest [sha256.Size]byte, value []byte) {
	hash := sha256.Sum256(value)
	c.digest, c.hash = digest[:], hash[:]
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return petjson.GetPet(ctx, reader{s}, id)
}

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return petjson.ListPets(ctx, reader{s}, q)
}

// JSONReader is for package httpapi, which reads pets as they are stored, in JSON.
func (s *Store) JSONReader() (petstore.Service, petjson.Reader) { return s, reader{s} }

// reader is a [petjson.Reader].
type reader struct{ *Store }

const getPet = "SELECT pet FROM petstore.pets WHERE id = $1"

// AppendPet implements petjson.Reader.
func (s reader) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	var json []byte
	err := s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, getPet, id).Scan(&json)
		if errors.Is(err, pgx.ErrNoRows) {
			return petstore.ErrNotFound
		}
		return err
	})
	return append(dst, json...), err
}

// listAll and listStatus select at most $2 pets. The comparison of rows makes
// PostgreSQL use the index on (status, id). With status = $3 it may read the index on
// id, and a large part of the table.
const (
	listAll    = "SELECT id, pet FROM petstore.pets WHERE id > $1 ORDER BY id LIMIT $2"
	listStatus = "SELECT id, pet FROM petstore.pets WHERE (status, id) > ($3, $1) AND (status, id) <= ($3, 9223372036854775807) ORDER BY status, id LIMIT $2"
)

// AppendPage implements petjson.Reader.
func (s reader) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	after, err := q.After.ID()
	if err != nil {
		return dst, "", err
	}
	query, args := listAll, []any{after, q.Limit + 1}
	if q.Status != "" {
		query, args = listStatus, append(args, q.Status)
	}
	var page []byte
	var next petstore.Cursor
	err = s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		page, next = append(dst, '['), ""
		pets, size, last := 0, 0, after
		var id int64
		var json pgtype.DriverBytes
		rows, _ := conn.Query(ctx, query, args...) // ForEachRow returns the error
		_, err := pgx.ForEachRow(rows, []any{&id, &json}, func() error {
			switch {
			case next != "":
			case pets == q.Limit || size >= petstore.MaxPageBytes:
				next = petstore.CursorAfter(last)
			default:
				if pets++; pets > 1 {
					page = append(page, ',')
				}
				page = append(page, json...)
				size, last = size+len(json), id
			}
			return nil
		})
		return err
	})
	if err != nil {
		return dst, "", err
	}
	return append(page, ']'), next, nil
}
