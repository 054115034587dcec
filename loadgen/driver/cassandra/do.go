package cassandra

import (
	"context"
	"errors"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// call is one operation on its way.
type call struct {
	*Driver
	op   *driver.Op
	seen *attempts
}

// Do does one operation; ctx carries its deadline, of which the servers know nothing.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	ctx, seen := withAttempts(ctx)
	c := &call{d, op, seen}
	switch {
	case op.Document != nil:
		return c.document(ctx, op.Document)
	case op.Known != nil:
		return c.writeKnown(ctx)
	}
	switch op.Kind {
	case driver.Read:
		return c.read(ctx)
	case driver.Batch:
		return c.readAll(ctx)
	case driver.Increment:
		return c.count(ctx)
	}
	return c.write(ctx)
}

func (c *call) writing() gocql.Consistency { return levels[c.policy.Consistency] }
func (c *call) reading() gocql.Consistency { return levels[c.policy.ReadConsistency] }

// tablesOf are those of verified keys, or of the plain data.
func (d *Driver) tablesOf(verified bool) (records, counters string) {
	if verified {
		return d.table(driver.PlaceLedger), d.table(tableLedgerCounters)
	}
	return d.table(driver.PlaceData), d.table(tableDataCounters)
}

func (c *call) records() string {
	records, _ := c.tablesOf(c.op.Verified)
	return records
}

func (c *call) counters() string {
	_, counters := c.tablesOf(c.op.Verified)
	return counters
}

// columns are those of a record.
const columns = "id, writer, seq, checksum, value"

// write stores the whole record. Cassandra does not tell whether there was one.
func (c *call) write(ctx context.Context) driver.Result {
	record := c.op.Record
	c.seen.sent = 0
	query := c.session.Query("INSERT INTO "+c.records()+" ("+columns+") VALUES (?, ?, ?, ?, ?)",
		c.op.ID, record.Writer, int64(record.Seq), int64(record.Checksum), valueOf(c.op.Value)).
		Consistency(c.writing())
	if c.policy.Timestamps == byClient {
		query = query.WithTimestamp(c.now())
	}
	err := query.ExecContext(ctx)
	result := classify(err, c.op.Kind, c.seen)
	if err != nil || c.op.Kind != driver.Operate {
		return result
	}
	return c.writtenBack(ctx, result)
}

// valueOf is a value that is there, of whatever length: no bytes at all are not null.
func valueOf(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// writtenBack reads what an Operate has written, as a request of its own: Cassandra has none that does
// both. Of a plain key another write may have come in between.
func (c *call) writtenBack(ctx context.Context, result driver.Result) driver.Result {
	f, err := c.look(ctx, c.reading())
	if err != nil { // the write itself is done
		result = classify(err, c.op.Kind, c.seen)
		result.Class = driver.InDoubt
		return result
	}
	if f == nil || !f.Valid || (c.op.Verified && *f.Record != c.op.Record) {
		return result.Spoilt(driver.InDoubt)
	}
	return result
}

// count adds one to a counter. Cassandra does not tell what it was.
func (c *call) count(ctx context.Context) driver.Result {
	c.seen.sent = 0
	err := c.session.Query("UPDATE "+c.counters()+" SET n = n + 1 WHERE id = ?", c.op.ID).
		Consistency(c.writing()).ExecContext(ctx)
	return classify(err, driver.Increment, c.seen)
}

// look reads what is stored under the operation's key; nil is one that is missing.
func (c *call) look(ctx context.Context, level gocql.Consistency) (*driver.Found, error) {
	if c.op.Kind == driver.Increment {
		return lookAtCounter(ctx, c.session.Query(theCounter(c.counters()), c.op.ID).Consistency(level))
	}
	return lookAtRecord(ctx, c.session.Query(theRecord(c.records()), c.op.ID).Consistency(level))
}

func theCounter(table string) string { return "SELECT n FROM " + table + " WHERE id = ?" }
func theRecord(table string) string  { return "SELECT " + columns + " FROM " + table + " WHERE id = ?" }

func lookAtCounter(ctx context.Context, query *gocql.Query) (*driver.Found, error) {
	var n *int64
	err := query.ScanContext(ctx, &n)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil, nil
	}
	if err != nil || n == nil {
		return nil, err
	}
	return &driver.Found{Count: *n, Counter: true}, nil
}

func lookAtRecord(ctx context.Context, query *gocql.Query) (f *driver.Found, err error) {
	iter := query.IterContext(ctx)
	row := row{}
	if row.scan(iter) {
		f = row.found()
	}
	return f, iter.Close()
}

// row is one of columns; we never write a null.
type row struct {
	id            string
	writer        *string
	seq, checksum *int64
	value         []byte
}

func (r *row) scan(iter *gocql.Iter) bool {
	*r = row{}
	return iter.Scan(&r.id, &r.writer, &r.seq, &r.checksum, &r.value)
}

func (r *row) found() *driver.Found {
	f := &driver.Found{}
	if r.writer != nil && r.seq != nil && r.checksum != nil {
		f.Record = &driver.Record{Writer: *r.writer, Seq: uint64(*r.seq), Checksum: uint32(*r.checksum)}
		f.Valid = f.Record.Valid(r.id, r.value)
	}
	return f
}

func (c *call) read(ctx context.Context) driver.Result {
	f, err := c.look(ctx, c.reading())
	result := classify(err, driver.Read, c.seen)
	if err != nil || f == nil {
		return result
	}
	return result.Holding(*f)
}

// readAll reads several records by one request, each of which has to be there.
func (c *call) readAll(ctx context.Context) driver.Result {
	iter := c.session.Query("SELECT "+columns+" FROM "+c.records()+" WHERE id IN ?", c.op.IDs).
		Consistency(c.reading()).IterContext(ctx)
	there, spoilt := map[string]bool{}, false
	for one := (row{}); one.scan(iter); {
		there[one.id] = true
		spoilt = spoilt || !one.found().Intact()
	}
	err := iter.Close()
	result := classify(err, driver.Batch, c.seen)
	if err != nil {
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

// readBack is what was found of a key; nil is a key that is missing.
func readBack(id string, f *driver.Found, counter bool) driver.ReadBack {
	if f == nil {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return f.ReadBack(id, counter)
}
