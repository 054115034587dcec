package postgresql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"brownout/loadgen/driver"
)

const (
	batchRecords   = 500
	batchBytes     = 4 << 20
	controlTimeout = 30 * time.Second
	controlPause   = 100 * time.Millisecond
)

// Load claims the schema and writes the data set, as [driver.Load] says.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(max(data.Concurrency, 1)+1, func(c *control) error {
		return driver.Load(ctx, c, data, progress)
	})
}

// Clean removes all of our tables, and refuses those of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(1, func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(1, func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

// control has connections for everything but the load. It is there only while it is needed, so
// that it does not disturb the load.
type control struct {
	*Driver
	pool *pgxpool.Pool
}

func (d *Driver) control(size int) (*control, error) {
	parameters := map[string]string{}
	if d.policy.SynchronousCommit != "" {
		parameters["synchronous_commit"] = d.policy.SynchronousCommit
	}
	settings, err := d.settingsFor(size, parameters, d.hosts)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		return nil, err
	}
	return &control{d, pool}, nil
}

// controlled does something with so many connections.
func (d *Driver) controlled(size int, do func(*control) error) error {
	c, err := d.control(size)
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

func (c *control) Close() { closePool(c.pool) }

// try does what may be done twice, again and again while the cluster does not serve, as in a failover.
func (c *control) try(ctx context.Context, do func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	for {
		err := c.pool.AcquireFunc(ctx, func(connection *pgxpool.Conn) error { return do(ctx, connection) })
		if err == nil || !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(controlPause):
		}
	}
}

// passing tells whether an error is one of a cluster that is about to serve again.
func passing(err error) bool {
	var spoken *pgconn.PgError
	if errors.As(err, &spoken) {
		return slices.Contains([]string{"25006", "40001", "40P01", "53300", "57P01", "57P02", "57P03"}, spoken.Code)
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return unsent(err).Cause != driver.CauseAuthTLS
	}
	cause, _ := broken(err)
	return cause == driver.CauseConnectionReset || pgconn.SafeToRetry(err)
}

func (c *control) do(ctx context.Context, sql string, arguments ...any) error {
	return c.try(ctx, func(ctx context.Context, connection *pgxpool.Conn) error {
		_, err := connection.Exec(ctx, sql, arguments...)
		return err
	})
}

func (c *control) rows(ctx context.Context, sql string, arguments []any, each func(pgx.Rows) error) error {
	return c.try(ctx, func(ctx context.Context, connection *pgxpool.Conn) error {
		rows, err := connection.Query(ctx, sql, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	servers := make([]string, len(c.hosts))
	for i, h := range c.hosts {
		servers[i] = h.String()
	}
	return fmt.Sprintf("the schema %q on %s", c.config.Namespace, strings.Join(servers, ", "))
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	there, err := c.Made(ctx)
	if err != nil || !there {
		return nil, err
	}
	var text string
	sql := "SELECT value FROM " + c.table(driver.PlaceMeta) + " WHERE id = $1"
	err = c.rows(ctx, sql, []any{driver.MarkerID}, func(rows pgx.Rows) error { return rows.Scan(&text) })
	if err != nil || text == "" {
		return nil, err
	}
	m := &driver.Marker{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("the table %s was not made by brownout: %w", c.table(driver.PlaceMeta), err)
	}
	return m, nil
}

// Made tells whether the marker's table is there.
func (c *control) Made(ctx context.Context) (there bool, err error) {
	err = c.rows(ctx, "SELECT to_regclass($1) IS NOT NULL", []any{c.table(driver.PlaceMeta)}, func(rows pgx.Rows) error {
		return rows.Scan(&there)
	})
	return there, err
}

// WriteMarker makes the tables with it if they are not there.
func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	missing, err := c.Missing(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(driver.Places(), func(name string) bool { return slices.Contains(missing, name) }) {
		return c.do(ctx, c.markerSQL(), driver.MarkerID, string(text))
	}
	return c.try(ctx, func(ctx context.Context, connection *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, connection, func(t pgx.Tx) error { return c.create(ctx, t, string(text), missing) })
	})
}

func (c *control) markerSQL() string {
	return "INSERT INTO " + c.table(driver.PlaceMeta) + " (id, value) VALUES ($1, $2) " +
		"ON CONFLICT (id) DO UPDATE SET value = excluded.value"
}

// create makes the schema, where it is not there, its tables and the marker.
func (c *control) create(ctx context.Context, t pgx.Tx, mark string, missing []string) error {
	var steps []string
	if slices.Contains(missing, theSchema) {
		steps = append(steps, "CREATE SCHEMA "+pgx.Identifier{c.config.Namespace}.Sanitize())
	}
	for _, name := range []string{driver.PlaceData, driver.PlaceLedger} {
		steps = append(steps, "CREATE TABLE IF NOT EXISTS "+c.table(name)+
			" (id text PRIMARY KEY, writer text, seq bigint, checksum bigint, value bytea, n bigint)")
	}
	for _, name := range driver.DocumentSets() {
		steps = append(steps, "CREATE TABLE IF NOT EXISTS "+c.table(name)+" (id text PRIMARY KEY, doc jsonb NOT NULL)")
	}
	steps = append(steps, "CREATE TABLE IF NOT EXISTS "+c.table(driver.PlaceMeta)+" (id text PRIMARY KEY, value text NOT NULL)")
	for _, step := range steps {
		if _, err := t.Exec(ctx, step); err != nil {
			return err
		}
	}
	_, err := t.Exec(ctx, c.markerSQL(), driver.MarkerID, mark)
	return err
}

// theSchema stands for the schema itself among what brownout has made.
const theSchema = "the schema"

// Missing are those of our tables that are not there, and the schema.
func (c *control) Missing(ctx context.Context) ([]string, error) {
	there, err := c.tables(ctx, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(ours(), func(name string) bool { return slices.Contains(there, name) })
	schema := false
	const look = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)"
	err = c.rows(ctx, look, []any{c.config.Namespace}, func(rows pgx.Rows) error { return rows.Scan(&schema) })
	if !schema {
		missing = append(missing, theSchema)
	}
	return missing, err
}

// tables lists what is in the schema, at most some.
func (c *control) tables(ctx context.Context, most int) (names []string, err error) {
	const sql = "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " +
		"WHERE n.nspname = $1 AND c.relkind <> 'i' ORDER BY 1 LIMIT $2"
	err = c.rows(ctx, sql, []any{c.config.Namespace, most}, func(rows pgx.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// Holds leaves out our tables that are empty: they may have been made for us.
func (c *control) Holds(ctx context.Context) (string, error) {
	const examples = 5
	tables, err := c.tables(ctx, examples+len(ours()))
	var names []string
	for _, name := range tables {
		empty := false
		if err == nil && slices.Contains(ours(), name) {
			empty, err = c.isEmpty(ctx, name)
		}
		if !empty {
			names = append(names, name)
		}
	}
	return strings.Join(names[:min(examples, len(names))], ", "), err
}

// isEmpty tells whether a table of ours has no row but that of a claim.
func (c *control) isEmpty(ctx context.Context, table string) (empty bool, err error) {
	sql := "SELECT NOT EXISTS (SELECT FROM " + c.table(table) + " t WHERE to_jsonb(t)->>'id' IS DISTINCT FROM $1)"
	err = c.rows(ctx, sql, []any{driver.ClaimID}, func(rows pgx.Rows) error { return rows.Scan(&empty) })
	return empty, err
}

// ours are our tables, the marker's last.
func ours() []string { return driver.Places() }

func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	const sql = `SELECT count(*), count(*) FILTER (WHERE id COLLATE "C" BETWEEN $1 AND $2) FROM `
	keys := []any{driver.DataID(0), driver.DataID(max(data.Keys, 1) - 1)}
	var everything uint64
	err = c.rows(ctx, sql+c.table(driver.PlaceData), keys, func(rows pgx.Rows) error { return rows.Scan(&everything, &items) })
	if err != nil {
		return 0, 0, fmt.Errorf("counting the data set: %w", err)
	}
	return items, everything - items, nil
}

func (c *control) EmptyData(ctx context.Context) error   { return c.empty(ctx, driver.PlaceData) }
func (c *control) EmptyLedger(ctx context.Context) error { return c.empty(ctx, driver.PlaceLedger) }

func (c *control) BatchOf(data driver.Dataset) uint64 {
	return data.InBatch(batchRecords, batchBytes)
}

func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	rows := map[string]*columnsOf{c.table(driver.PlaceData): {}, c.table(driver.PlaceLedger): {}}
	for i := first; i < limit; i++ {
		item := data.Item(i)
		rows[c.tableOf(item.Verified)].add(item)
	}
	for table, each := range rows {
		if len(each.ids) == 0 {
			continue
		}
		err := c.do(ctx, "INSERT INTO "+table+" ("+columns+") "+
			"SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[]) "+
			"ON CONFLICT (id) DO UPDATE SET writer = excluded.writer, seq = excluded.seq, "+
			"checksum = excluded.checksum, value = excluded.value, n = excluded.n",
			each.ids, each.writers, each.seqs, each.checksums, each.values, each.counts)
		if err != nil {
			return err
		}
	}
	return nil
}

// Remove drops the schema as well if we have made it and nothing else is in it. It only empties the tables
// that others have made for us.
func (c *control) Remove(ctx context.Context, made []string) error {
	if err := c.removeClients(ctx); err != nil {
		return err
	}
	there, err := c.tables(ctx, math.MaxInt32)
	if err != nil {
		return err
	}
	for _, name := range ours() {
		step := "DELETE FROM " + c.table(name)
		if slices.Contains(made, name) {
			step = "DROP TABLE IF EXISTS " + c.table(name)
		} else if !slices.Contains(there, name) {
			continue
		}
		if err := c.do(ctx, step); err != nil {
			return fmt.Errorf("removing the table %s: %w", c.table(name), err)
		}
	}
	if !slices.Contains(made, theSchema) {
		return nil
	}
	names, err := c.tables(ctx, 1)
	if err != nil || len(names) > 0 {
		return err
	}
	return c.do(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{c.config.Namespace}.Sanitize())
}

// tableClients begins the names of the tables of clients (infra/clients), which lie in the login's own schema
// and not in ours.
const tableClients = "brownout_client"

// removeClients drops the tables of clients, and empties those that another role owns.
func (c *control) removeClients(ctx context.Context) error {
	const look = "SELECT oid::regclass::text, pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class " +
		"WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) AND starts_with(relname, $1)"
	var steps []string
	err := c.rows(ctx, look, []any{tableClients}, func(rows pgx.Rows) error {
		var name string
		var own bool
		err := rows.Scan(&name, &own)
		if own {
			steps = append(steps, "DROP TABLE IF EXISTS "+name)
		} else {
			steps = append(steps, "DELETE FROM "+name)
		}
		return err
	})
	for _, step := range steps {
		if err == nil {
			err = c.do(ctx, step)
		}
	}
	if err != nil {
		return fmt.Errorf("removing the tables of clients: %w", err)
	}
	return nil
}

// empty removes every row of tables.
func (c *control) empty(ctx context.Context, names ...string) error {
	tables := make([]string, len(names))
	for i, name := range names {
		tables[i] = c.table(name)
	}
	if err := c.do(ctx, "TRUNCATE "+strings.Join(tables, ", ")); err != nil {
		return fmt.Errorf("emptying %s: %w", strings.Join(tables, ", "), err)
	}
	return nil
}

// columnsOf has items by column, as a statement takes many.
type columnsOf struct {
	ids             []string
	writers         []*string
	seqs, checksums []*int64
	values          [][]byte
	counts          []*int64
}

func (c *columnsOf) add(item driver.Item) {
	var writer *string
	var seq, checksum, count *int64
	var value []byte
	if item.Counter {
		count = new(int64)
	} else {
		s, sum := int64(item.Record.Seq), int64(item.Record.Checksum)
		writer, seq, checksum, value = &item.Record.Writer, &s, &sum, valueOf(append([]byte(nil), item.Value...))
	}
	c.ids = append(c.ids, item.ID)
	c.writers, c.seqs = append(c.writers, writer), append(c.seqs, seq)
	c.checksums, c.values = append(c.checksums, checksum), append(c.values, value)
	c.counts = append(c.counts, count)
}
