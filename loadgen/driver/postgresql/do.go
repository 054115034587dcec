package postgresql

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"brownout/loadgen/driver"
)

// call is one operation with a connection of its own.
type call struct {
	*Driver
	*pgxpool.Conn
	op *driver.Op
}

// Do does one operation; ctx carries its deadline. Whatever stands in its way before it has a
// connection is a failure: nothing was sent.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	pool := d.poolOf(op.Kind)
	connection, err := pool.Acquire(ctx)
	if err != nil {
		return refused(withoutConnection(err, pool.Stat()))
	}
	defer connection.Release()
	c := &call{d, connection, op}
	result := c.do(ctx)
	if noted(connection.Conn().PgConn()) && result.Class == driver.OK && op.Kind.Write() {
		result.Class, result.Cause, result.Code = driver.InDoubt, driver.CauseQuorumUnavailable, "not replicated"
	}
	if result.Cause == driver.CauseNotPrimary { // the next one is to look for another server
		_ = connection.Conn().Close(ctx)
	}
	return result
}

// withoutConnection tells a pool whose connections are all in use from one that gets none.
func withoutConnection(err error, state *pgxpool.Stat) driver.Result {
	result := unsent(err)
	if result.Code == "no connection" && state.AcquiredConns() >= state.MaxConns() {
		result.Cause, result.Code = driver.CausePoolExhausted, "all in use"
	}
	return result
}

func (c *call) do(ctx context.Context) driver.Result {
	op := c.op
	if op.Document != nil {
		return c.document(ctx, op.Document)
	}
	if op.Known != nil {
		return c.writeKnown(ctx)
	}
	switch op.Kind {
	case driver.Read:
		return c.read(ctx)
	case driver.Batch:
		return c.readAll(ctx)
	case driver.Insert:
		return c.insert(ctx)
	case driver.Increment:
		return c.increment(ctx)
	}
	return c.replace(ctx)
}

// run does one statement, which is a transaction of its own, and gives each row to scan.
func (c *call) run(
	ctx context.Context, sql string, arguments []any, scan func(pgx.Rows) error,
) (result driver.Result, rows int64) {
	found, err := c.Query(ctx, sql, arguments...)
	if err != nil {
		return classify(err, c.op.Kind, false), 0
	}
	for err == nil && found.Next() {
		if scan != nil {
			err = scan(found)
		}
	}
	found.Close()
	tag := found.CommandTag()
	if err = errors.Join(err, found.Err()); err != nil {
		return classify(err, c.op.Kind, tag.String() != ""), 0
	}
	return classify(nil, c.op.Kind, false), tag.RowsAffected()
}

// A record is a row of these columns; of a counter only n is not null.
const columns = "id, writer, seq, checksum, value, n"

func (c *call) ours() string { return c.tableOf(c.op.Verified) }

// row has what an operation writes, as columns has it.
func (c *call) row() []any {
	record := c.op.Record
	return []any{c.op.ID, record.Writer, int64(record.Seq), int64(record.Checksum), valueOf(c.op.Value)}
}

// valueOf is a value that is there, of whatever length: no bytes at all are not null.
func valueOf(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

func (c *call) read(ctx context.Context) driver.Result {
	var f *found
	sql := "SELECT " + columns + " FROM " + c.ours() + " WHERE id = $1"
	result, _ := c.run(ctx, sql, []any{c.op.ID}, func(rows pgx.Rows) (err error) {
		f, err = scan(rows)
		return err
	})
	if result.Class != driver.OK || f == nil {
		return result
	}
	return result.Holding(f.Found)
}

// readAll reads several records by one statement, each of which has to be there.
func (c *call) readAll(ctx context.Context) driver.Result {
	there, spoilt := map[string]bool{}, false
	sql := "SELECT " + columns + " FROM " + c.ours() + " WHERE id = ANY($1)"
	result, _ := c.run(ctx, sql, []any{c.op.IDs}, func(rows pgx.Rows) error {
		f, err := scan(rows)
		if err == nil {
			there[f.id] = true
			spoilt = spoilt || !f.Intact()
		}
		return err
	})
	if result.Class != driver.OK {
		return result
	}
	result.Found = true
	for _, id := range c.op.IDs {
		result.Found = result.Found && there[id]
	}
	if spoilt {
		result = result.Spoilt(driver.Failed)
	}
	return result
}

// insert makes a record that never was.
func (c *call) insert(ctx context.Context) driver.Result {
	sql := "INSERT INTO " + c.ours() + " (id, writer, seq, checksum, value) VALUES ($1, $2, $3, $4, $5)"
	result, _ := c.run(ctx, sql, c.row(), nil)
	return existing(result)
}

// existing names a primary key that is there already as every driver does.
func existing(result driver.Result) driver.Result {
	if result.Cause == driver.CauseKeyBusy && result.Code == "23505" {
		result.Code = "exists"
	}
	return result
}

// replace writes a record without knowing what is stored, but that something is: what is
// missing has to be made anew, which is told. A row that was made by this statement has no xmax.
func (c *call) replace(ctx context.Context) driver.Result {
	sql := "INSERT INTO " + c.ours() + " AS t (id, writer, seq, checksum, value) VALUES ($1, $2, $3, $4, $5) " +
		"ON CONFLICT (id) DO UPDATE SET writer = excluded.writer, seq = excluded.seq, " +
		"checksum = excluded.checksum, value = excluded.value, n = NULL " +
		"RETURNING t.xmax = 0, t.value"
	var stored []byte
	remade := false
	result, _ := c.run(ctx, sql, c.row(), func(rows pgx.Rows) error { return rows.Scan(&remade, &stored) })
	if result.Class == driver.OK {
		result.Remade = remade
	}
	return c.exchanged(result, stored)
}

// exchanged holds what an Operate read back against what it wrote.
func (c *call) exchanged(result driver.Result, stored []byte) driver.Result {
	if c.op.Kind != driver.Operate || result.Class != driver.OK {
		return result
	}
	if !c.op.Record.Valid(c.op.ID, stored) {
		result = result.Spoilt(driver.InDoubt)
	}
	return result
}

// increment adds one to a counter, made if it is missing, which is told.
func (c *call) increment(ctx context.Context) driver.Result {
	sql := "INSERT INTO " + c.ours() + " AS t (id, n) VALUES ($1, 1) " +
		"ON CONFLICT (id) DO UPDATE SET n = t.n + 1 WHERE t.n IS NOT NULL RETURNING t.xmax = 0, t.n"
	var value int64
	remade := false
	result, rows := c.run(ctx, sql, []any{c.op.ID}, func(rows pgx.Rows) error { return rows.Scan(&remade, &value) })
	if result.Class != driver.OK {
		return result
	}
	if rows == 0 {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseIntegrity, driver.CodeNoMatch
		return result
	}
	result.Value, result.Remade = value, remade
	return result
}

// found is a stored record.
type found struct {
	id string
	driver.Found
}

// scan reads a row of columns.
func scan(rows pgx.Rows) (*found, error) {
	var f found
	var writer *string
	var seq, checksum, n *int64
	var value []byte
	if err := rows.Scan(&f.id, &writer, &seq, &checksum, &value, &n); err != nil {
		return nil, err
	}
	if writer != nil && seq != nil && checksum != nil {
		f.Record = &driver.Record{Writer: *writer, Seq: uint64(*seq), Checksum: uint32(*checksum)}
		f.Valid = f.Record.Valid(f.id, value)
	}
	if n != nil && f.Record == nil {
		f.Count, f.Counter = *n, true
	}
	return &f, nil
}

// readBack is what a stored row says of its key; nil is a key that is missing.
func readBack(id string, f *found, counter bool) driver.ReadBack {
	if f == nil {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return f.ReadBack(id, counter)
}
