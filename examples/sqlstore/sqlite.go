package sqlstore

import (
	"database/sql"
	"errors"

	_ "github.com/mattn/go-sqlite3" // needs a C compiler

	"example.com/animalstore/petstore"
)

// Open opens the database in the file at path. It creates the file if it is missing.
func Open(path string) (*Store, error) {
	db, err := sql.Open("sqlite3", path+"?_journal=WAL&_synchronous=FULL") // when a commit returns, it is on disk
	if err != nil {
		return nil, err
	}
	// SQLite has one writer at a time, so IDs ascend in the order of commit. If they
	// did not, lists would miss pets. On PostgreSQL a sequence is not enough: a
	// transaction with a higher number may commit first.
	db.SetMaxOpenConns(1) // with more, a writer can fail while another one writes
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY AUTOINCREMENT,
		name TEXT, category INTEGER, status TEXT, once BLOB UNIQUE)`)
	return &Store{db}, err
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// failed turns an error of the database into one with a code.
func failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return petstore.ErrNoPet
	}
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the database cannot be used now", Err: err}
}
