package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
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

const (
	selectPets = "SELECT id, name, category_id, coalesce(status, '') FROM petstore.pets "
	getPet     = selectPets + "WHERE id = $1"
)

// columns returns where the columns of selectPets go.
func columns(p *petstore.Pet) []any {
	return []any{&p.ID, (*text)(&p.Name), &p.CategoryID, &p.Status}
}

// text is a string that is stored as bytes, since the type text of PostgreSQL has no U+0000.
type text string

// ScanBytes implements [pgtype.BytesScanner].
func (t *text) ScanBytes(b []byte) error {
	*t = text(b)
	return nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (pet petstore.Pet, err error) {
	err = s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, getPet, id).Scan(columns(&pet)...)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return missing(ctx, conn, id)
		case err == nil && pet.ID != id:
			return damaged(fmt.Sprintf("the index leads from the pet %d to the pet %d", id, pet.ID))
		}
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// missing returns why there is no row of a pet: an import has left out its ID, the ID is
// above all others, or the row was lost.
func missing(ctx context.Context, conn *pgx.Conn, id int64) error {
	var lost bool
	err := conn.QueryRow(ctx, `SELECT $1::bigint > (SELECT imported_to FROM petstore.store)
		AND $1 BETWEEN 1 AND (SELECT last_pet FROM petstore.commits ORDER BY number DESC LIMIT 1)
		AND NOT EXISTS (SELECT FROM petstore.pets WHERE id = $1)`, id).Scan(&lost)
	switch {
	case err != nil:
		return err
	case lost:
		return missingRow(id)
	}
	return petstore.ErrNotFound
}

func missingRow(id int64) error { return damaged(fmt.Sprintf("there is no row of the pet %d", id)) }

// listAll and listStatus select at most $2 pets. The comparison of rows makes
// PostgreSQL use the index on (status, id). With status = $3 it may read the index on
// id, and a large part of the table.
const (
	listAll    = selectPets + "WHERE id > $1 ORDER BY id LIMIT $2"
	listStatus = selectPets + "WHERE (status, id) > ($3, $1) AND (status, id) <= ($3, 9223372036854775807) ORDER BY status, id LIMIT $2"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	after, err := q.After.ID()
	if err != nil {
		return petstore.Page{}, err
	}
	query, args := listAll, []any{after, q.Limit + 1}
	if q.Status != "" {
		query, args = listStatus, append(args, q.Status)
	}
	var page petstore.Page
	err = s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		var gap int64
		if page, gap, err = readPage(rows, q, after); err != nil || gap == 0 {
			return err
		}
		if err = missing(ctx, conn, gap); errors.Is(err, petstore.ErrNotFound) { // an import has left out the ID
			return nil
		}
		return err
	})
	if err != nil {
		return petstore.Page{}, err
	}
	return page, nil
}

// readPage returns the list page that begins with rows, and the last ID of which there
// is no row before a pet in the list of all; 0: there is none.
func readPage(rows pgx.Rows, q petstore.ListQuery, after int64) (page petstore.Page, gap int64, err error) {
	var p petstore.Pet
	var json []byte
	size := 0
	_, err = pgx.ForEachRow(rows, columns(&p), func() (err error) {
		if page.Next != "" {
			return nil
		}
		if q.Status == "" && p.ID != after+1 {
			gap = p.ID - 1
		}
		if len(page.Pets) == q.Limit || size >= petstore.MaxPageBytes {
			page.Next = petstore.CursorAfter(after)
			return nil
		}
		after = p.ID
		if json, err = p.AppendJSON(json[:0]); err != nil {
			return damaged(fmt.Sprintf("the pet %d: %v", p.ID, err))
		}
		size += len(json)
		page.Pets = append(page.Pets, p)
		return nil
	})
	return page, gap, err
}
