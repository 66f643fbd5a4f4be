package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
)

const (
	expireEvery = time.Minute
	expireRows  = 5000             // deleted by one statement
	receiptKept = 10 * time.Minute // far longer than a call takes
)

// expireAll deletes what has expired. Each server does so.
func (s *Store) expireAll() {
	if err := s.expire(s.context); err != nil && s.context.Err() == nil {
		s.log.Warn("expired outcomes of idempotent creates could not be deleted", "err", err)
	}
}

// expire deletes outcomes after petstore.IdempotencyWindow, and the rows of commits for
// which no server looks any more.
//
// The condition on outcomes stands in both parts of the statement. PostgreSQL applies
// that of the DELETE again to a row that was changed while it waited for it, so an
// outcome that was renewed stays.
func (s *Store) expire(ctx context.Context) error {
	for _, statement := range []struct {
		sql  string
		kept time.Duration
	}{
		{`DELETE FROM petstore.outcomes WHERE digest IN (
			SELECT digest FROM petstore.outcomes WHERE made < now() - $1::interval ORDER BY made LIMIT $2
		) AND made < now() - $1::interval`, petstore.IdempotencyWindow},
		{`DELETE FROM petstore.commits WHERE number IN (
			SELECT number FROM petstore.commits ORDER BY number LIMIT $2
		) AND made < now() - $1::interval AND number < (SELECT max(number) FROM petstore.commits)`, receiptKept},
	} {
		for deleted := int64(expireRows); deleted == expireRows; {
			err := s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				tag, err := conn.Exec(ctx, statement.sql, statement.kept, expireRows)
				deleted = tag.RowsAffected()
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
