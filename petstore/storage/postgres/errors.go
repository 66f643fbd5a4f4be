package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/animalstore/petstore"
)

var errClosed = petstore.Errorf(petstore.CodeUnavailable, "the store is closed")

func unavailable(message string, cause error) error {
	return &petstore.Error{Code: petstore.CodeUnavailable, Message: message, Err: cause}
}

// damaged returns the error for tables that this program cannot use.
func damaged(what string) error {
	return &petstore.Error{Code: petstore.CodeInternal, Message: "the tables cannot be used", Err: errors.New(what)}
}

// connError is an error of a connection that could not be made or used.
type connError struct{ error }

func (e connError) Unwrap() error { return e.error }

// transient reports whether an attempt that failed with err may succeed on another
// connection. An error that neither PostgreSQL nor this package reports is a connection's.
func transient(err error) bool {
	if errors.As(err, new(*petstore.Error)) || errors.As(err, new(noTables)) || errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return true
	}
	switch e.Code[:2] {
	case "08", "40", "57": // connection exceptions; deadlocks; shutdowns
		return true
	}
	return slices.Contains([]string{
		"25006", // read-only: it is no longer the primary
		"25P03", // the transaction was idle for too long
		"53300", // too many connections
		"55P03", // lock_timeout
	}, e.Code)
}

// explain adds a code to an error of the database.
func explain(err error) error {
	var e *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return damaged("a table that always has a row has none")
	case errors.As(err, new(connError)):
		return unavailable("the database cannot be used now", err)
	case errors.As(err, &e) && e.Code == "53100": // disk_full
		return &petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "there is no room to store this", Err: err}
	}
	return err // any other one is internal
}

// pause waits before the next attempt. It reports false if ctx ends first.
func pause(ctx context.Context, try int) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(min(10*time.Millisecond<<min(try, 10), 500*time.Millisecond)):
		return true
	}
}
