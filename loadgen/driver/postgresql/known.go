package postgresql

import (
	"context"

	"github.com/jackc/pgx/v5"

	"brownout/loadgen/driver"
)

// writeKnown writes only where what is known to be stored is stored. A write that is refused reads
// at once, over the same connection, what is stored instead.
func (c *call) writeKnown(ctx context.Context) driver.Result {
	var before int64
	var stored []byte
	sql, arguments := c.conditional()
	result, rows := c.run(ctx, sql, arguments, func(rows pgx.Rows) error { return rows.Scan(&before, &stored) })
	if result.Class != driver.OK {
		return result
	}
	if rows == 0 {
		return c.refused(ctx)
	}
	if !c.op.Known.Sure() {
		result.Before = &before
	}
	return c.exchanged(result, stored)
}

// conditional is the statement of a write to a known key, which returns what it found: a sequence
// or a value, and what it left.
func (c *call) conditional() (string, []any) {
	known, op := c.op.Known, c.op
	switch {
	case known.Create && op.Kind == driver.Increment:
		return "INSERT INTO " + c.ours() + " (id, n) VALUES ($1, 1) ON CONFLICT (id) DO NOTHING " +
			"RETURNING 0::bigint, NULL::bytea", []any{op.ID}
	case known.Create:
		return "INSERT INTO " + c.ours() + " AS t (id, writer, seq, checksum, value) VALUES ($1, $2, $3, $4, $5) " +
			"ON CONFLICT (id) DO NOTHING RETURNING 0::bigint, t.value", c.row()
	case op.Kind == driver.Increment:
		return "UPDATE " + c.ours() + " SET n = n + 1 WHERE id = $1 AND n BETWEEN $2 AND $3 " +
			"RETURNING n - 1, NULL::bytea", []any{op.ID, known.First, known.Last}
	}
	return "WITH found AS (SELECT id, seq FROM " + c.ours() + " WHERE id = $1 AND writer = $2 AND n IS NULL " +
		"AND seq BETWEEN $6 AND $7 FOR UPDATE) " +
		"UPDATE " + c.ours() + " AS t SET seq = $3, checksum = $4, value = $5 FROM found WHERE t.id = found.id " +
		"RETURNING found.seq, t.value", append(c.row(), known.First, known.Last)
}

// refused is a write that did not find what it was to find.
func (c *call) refused(ctx context.Context) driver.Result {
	var f *found
	sql := "SELECT " + columns + " FROM " + c.ours() + " WHERE id = $1"
	got, _ := c.run(ctx, sql, []any{c.op.ID}, func(rows pgx.Rows) (err error) {
		f, err = scan(rows)
		return err
	})
	if got.Class != driver.OK {
		return driver.Refused(c.op, nil)
	}
	instead := readBack(c.op.ID, f, c.op.Kind == driver.Increment)
	return driver.Refused(c.op, &instead)
}
