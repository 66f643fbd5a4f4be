// Package sqlstore keeps pets in a SQL database. Its Store is a petstore.Service to
// pass to httpapi.New. The code that depends on SQLite is in sqlite.go.
package sqlstore

import (
	"context"
	"database/sql"

	"example.com/animalstore/petstore"
)

// Store is a petstore.Service.
type Store struct{ db *sql.DB }

func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	var key []byte // nil is stored as NULL, which is not equal to another NULL
	if !once.IsZero() {
		digest := once.Digest(petstore.OnceCreatePet)
		key = digest[:]
	}
	// This is one statement, so if two creations with the same once run at the same
	// time, one of them returns the pet of the other.
	pet, err := scan(s.db.QueryRowContext(ctx, `INSERT INTO pets (name, category, status, once) VALUES (?, ?, ?, ?)
		ON CONFLICT (once) DO UPDATE SET once = once RETURNING id, name, category, status`,
		p.Name, p.CategoryID, p.Status, key))
	if err == nil && pet.NewPet != p {
		return petstore.Pet{}, petstore.ErrMismatch
	}
	return pet, err
}

func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return scan(s.db.QueryRowContext(ctx, `SELECT id, name, category, status FROM pets WHERE id = ?`, id))
}

func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, err
	}
	after, err := q.After.ID()
	if err != nil {
		return page, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT id, name, category, status FROM pets
		WHERE id > ? AND ? IN ('', status) ORDER BY id LIMIT ?`, after, q.Status, q.Limit+1)
	if err != nil {
		return page, failed(err)
	}
	defer rows.Close()
	var json []byte
	for rows.Next() {
		if len(page.Pets) == q.Limit || len(json) >= petstore.MaxPageBytes { // there is another page
			page.Next = petstore.CursorAfter(page.Pets[len(page.Pets)-1].ID)
			return page, nil
		}
		pet, err := scan(rows)
		if err != nil {
			return page, err
		}
		page.Pets = append(page.Pets, pet)
		json, _ = pet.AppendJSON(json) // only the length is used
	}
	return page, failed(rows.Err())
}

func scan(row interface{ Scan(...any) error }) (pet petstore.Pet, err error) {
	err = row.Scan(&pet.ID, &pet.Name, &pet.CategoryID, &pet.Status)
	return pet, failed(err)
}
