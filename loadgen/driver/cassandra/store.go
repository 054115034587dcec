package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

const (
	batchRecords   = 200 // that one worker of a load writes, batchWriters at a time
	batchWriters   = 8
	controlTimeout = 30 * time.Second
	controlPause   = 250 * time.Millisecond
	// loaded is the time that loaded verified keys carry: before that of every other write, so that no
	// difference between the clocks of two generators hides one.
	loaded = 1
)

// definitions are our tables.
var definitions = map[string]string{
	driver.PlaceMeta:    "(id text PRIMARY KEY, marker text)",
	driver.PlaceData:    "(id text PRIMARY KEY, writer text, seq bigint, checksum bigint, value blob)",
	tableDataCounters:   "(id text PRIMARY KEY, n counter)",
	driver.PlaceLedger:  "(id text PRIMARY KEY, writer text, seq bigint, checksum bigint, value blob)",
	tableLedgerCounters: "(id text PRIMARY KEY, n counter)",
	tableDocuments:      "(id text PRIMARY KEY, doc text, version bigint)",
}

// Load claims the keyspace and writes the data set, as [driver.Load] says.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(ctx, func(c *control) error { return driver.Load(ctx, c, data, progress) })
}

// Clean removes all of our tables, and refuses those of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

// control is a session for everything but the load. It is there only while it is needed, so that it
// does not disturb the load.
type control struct {
	*Driver
	session    *gocql.Session
	incomplete atomic.Bool // a replica did not answer
}

func (d *Driver) control(ctx context.Context) (*control, error) {
	session, err := d.connect(ctx, controlTimeout)
	if err != nil {
		return nil, err
	}
	return &control{Driver: d, session: session}, nil
}

func (d *Driver) controlled(ctx context.Context, do func(*control) error) error {
	c, err := d.control(ctx)
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

func (c *control) Close() { c.session.Close() }

// try does what may be done twice, a few times while the cluster does not serve, as in a failover.
func (c *control) try(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	for again := 0; ; again++ {
		err := do(ctx)
		var spoken gocql.RequestError
		if err == nil || again == 3 || (errors.As(err, &spoken) && meaning(spoken.Code()).final) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(controlPause << again):
		}
	}
}

// do does a statement that may be done twice.
func (c *control) do(ctx context.Context, statement string, values ...any) error {
	return c.try(ctx, func(ctx context.Context) error { return c.session.Query(statement, values...).ExecContext(ctx) })
}

// define does a statement that makes something, by the node of the lowest id that is up: one that others
// make by another node at the same time would be made twice, with two ids.
func (c *control) define(ctx context.Context, statement string) error {
	lowest := ""
	for _, host := range c.session.GetHosts() {
		if id := host.HostID(); host.IsUp() && (lowest == "" || id < lowest) {
			lowest = id
		}
	}
	return c.try(ctx, func(ctx context.Context) error {
		return c.session.Query(statement).SetHostID(lowest).ExecContext(ctx)
	})
}

// sure is the consistency of what is not part of the load.
const sure = gocql.Quorum

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the keyspace %q on %s", c.config.Namespace, strings.Join(c.hosts, ", "))
}

// tables are all tables of the keyspace, not only our own.
func (c *control) tables(ctx context.Context) (names []string, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		names = nil
		iter := c.session.Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
			c.config.Namespace).Consistency(gocql.One).IterContext(ctx)
		for name := ""; iter.Scan(&name); {
			names = append(names, name)
		}
		return iter.Close()
	})
	return names, err
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	names, err := c.tables(ctx)
	if err != nil || !slices.Contains(names, driver.PlaceMeta) {
		return nil, err
	}
	var text string
	err = c.try(ctx, func(ctx context.Context) error {
		err := c.session.Query("SELECT marker FROM "+c.table(driver.PlaceMeta)+" WHERE id = ?", driver.MarkerID).
			Consistency(sure).ScanContext(ctx, &text)
		if errors.Is(err, gocql.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil || text == "" {
		return nil, err
	}
	m := &driver.Marker{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("the row %s of %s was not made by brownout: %w",
			driver.MarkerID, c.table(driver.PlaceMeta), err)
	}
	return m, nil
}

// WriteMarker makes the keyspace and our tables if they are not there.
func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	if err := c.make(ctx); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.try(ctx, func(ctx context.Context) error {
		return c.session.Query("INSERT INTO "+c.table(driver.PlaceMeta)+" (id, marker) VALUES (?, ?)", driver.MarkerID, string(text)).
			Consistency(sure).ExecContext(ctx)
	})
}

// theKeyspace stands for the keyspace itself among what brownout has made.
const theKeyspace = "the keyspace"

// Missing are those of our tables that are not there, and the keyspace.
func (c *control) Missing(ctx context.Context) ([]string, error) {
	there, err := c.tables(ctx)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(ours), func(name string) bool { return slices.Contains(there, name) })
	keyspace, err := c.isKeyspace(ctx, c.config.Namespace)
	if err == nil && !keyspace {
		missing = append(missing, theKeyspace)
	}
	return missing, err
}

// make makes what is not there.
func (c *control) make(ctx context.Context) error {
	missing, err := c.Missing(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(missing, theKeyspace) {
		if err := c.makeKeyspace(ctx); err != nil {
			return err
		}
	}
	for _, name := range ours {
		if !slices.Contains(missing, name) {
			continue
		}
		if err := c.define(ctx, "CREATE TABLE IF NOT EXISTS "+c.table(name)+" "+definitions[name]); err != nil {
			return fmt.Errorf("making the table %s: %w", c.table(name), err)
		}
	}
	return nil
}

// ours are our tables, the marker's last.
var ours = []string{
	driver.PlaceData, tableDataCounters, driver.PlaceLedger, tableLedgerCounters, tableDocuments, driver.PlaceMeta,
}

func (c *control) makeKeyspace(ctx context.Context) error {
	name, copies := c.config.Namespace, c.policy.ReplicationFactor
	if nodes := len(c.session.GetHosts()); nodes < copies {
		return fmt.Errorf("the cluster has %d nodes, and option replication_factor is %d; lower it, "+
			"or make the keyspace %q yourself", nodes, copies, name)
	}
	err := c.define(ctx, fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %q WITH replication = "+
		"{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}", name, copies))
	if err != nil {
		return fmt.Errorf("making the keyspace %q: %w", name, err)
	}
	return nil
}

// Holds leaves out our tables that are empty: a load that was killed while it made them has left them, or
// they were made for us.
func (c *control) Holds(ctx context.Context) (string, error) {
	const examples = 5
	tables, err := c.tables(ctx)
	var names []string
	for _, name := range tables {
		empty := false
		if err == nil && slices.Contains(ours, name) {
			empty, err = c.isEmpty(ctx, name)
		}
		if !empty {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names[:min(examples, len(names))], ", "), err
}

// isEmpty tells whether a table has no row but that of a claim.
func (c *control) isEmpty(ctx context.Context, table string) (empty bool, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		iter := c.session.Query("SELECT * FROM " + c.table(table) + " LIMIT 2").Consistency(sure).IterContext(ctx)
		row := map[string]any{}
		rows := iter.NumRows()
		iter.MapScan(row)
		empty = rows == 0 || (rows == 1 && table == driver.PlaceMeta && row["id"] == driver.ClaimID)
		err := iter.Close()
		var spoken gocql.RequestError
		if errors.As(err, &spoken) && spoken.Code() == gocql.ErrCodeInvalid {
			return nil // another generator makes it at this moment, and not every node has it yet
		}
		return err
	})
	return empty, err
}

func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		items, others = 0, 0
		iter := c.session.Query("SELECT id FROM " + c.table(driver.PlaceData)).Consistency(sure).IterContext(ctx)
		for id := ""; iter.Scan(&id); {
			number, err := strconv.ParseUint(strings.TrimPrefix(id, "k"), 10, 64)
			if err == nil && number < data.Keys && id == driver.DataID(number) {
				items++
			} else {
				others++
			}
		}
		return iter.Close()
	})
	if err != nil {
		return 0, 0, fmt.Errorf("counting the data set: %w", err)
	}
	return items, others, nil
}

func (c *control) EmptyData(ctx context.Context) error {
	return c.empty(ctx, driver.PlaceData, tableDataCounters)
}

func (c *control) EmptyLedger(ctx context.Context) error {
	return c.empty(ctx, driver.PlaceLedger, tableLedgerCounters)
}

// empty truncates tables, which every replica has to confirm.
func (c *control) empty(ctx context.Context, tables ...string) error {
	for _, name := range tables {
		if err := c.do(ctx, "TRUNCATE TABLE "+c.table(name)); err != nil {
			return fmt.Errorf("emptying %s, for which every node has to be up: %w", c.table(name), err)
		}
	}
	return nil
}

func (c *control) BatchOf(driver.Dataset) uint64 { return batchRecords }

func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	return driver.InBatches(ctx, batchWriters, first, limit, 1, func(ctx context.Context, i, _ uint64) error {
		item := data.Item(i)
		query := c.session.Query("UPDATE "+c.table(tableLedgerCounters)+" SET n = n + 0 WHERE id = ?", item.ID)
		if !item.Counter {
			table := c.table(driver.PlaceData)
			if item.Verified {
				table = c.table(driver.PlaceLedger)
			}
			query = c.session.Query("INSERT INTO "+table+" ("+columns+") VALUES (?, ?, ?, ?, ?)", item.ID,
				item.Record.Writer, int64(item.Record.Seq), int64(item.Record.Checksum), valueOf(item.Value))
			if item.Verified {
				query = query.WithTimestamp(loaded)
			}
		}
		return c.try(ctx, query.Consistency(sure).ExecContext)
	})
}

// Remove drops the tables that we made, and the keyspace if we made it and no other tables use
// it. It only empties the tables that others have made for us.
func (c *control) Remove(ctx context.Context, made []string) error {
	if err := c.removeClients(ctx); err != nil {
		return err
	}
	there, err := c.tables(ctx)
	if err != nil {
		return err
	}
	strange := slices.ContainsFunc(there, func(name string) bool { return !slices.Contains(ours, name) })
	if slices.Contains(made, theKeyspace) && !strange {
		return c.do(ctx, fmt.Sprintf("DROP KEYSPACE IF EXISTS %q", c.config.Namespace))
	}
	for _, name := range ours {
		if slices.Contains(made, name) {
			err = c.do(ctx, "DROP TABLE IF EXISTS "+c.table(name))
		} else if slices.Contains(there, name) {
			err = c.empty(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyspaceOfClients is that of the ready client (infra/clients/jvm/src/Cassandra.java).
func (c *control) keyspaceOfClients() string { return c.config.Namespace + "_client" }

// removeClients drops the keyspace of clients. Where there is none, a login may not be allowed to.
func (c *control) removeClients(ctx context.Context) error {
	there, err := c.isKeyspace(ctx, c.keyspaceOfClients())
	if err == nil && there {
		err = c.do(ctx, fmt.Sprintf("DROP KEYSPACE IF EXISTS %q", c.keyspaceOfClients()))
	}
	if err != nil {
		return fmt.Errorf("removing the keyspace of clients %q: %w", c.keyspaceOfClients(), err)
	}
	return nil
}

func (c *control) isKeyspace(ctx context.Context, name string) (there bool, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		err := c.session.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", name).
			Consistency(gocql.One).ScanContext(ctx, &name)
		there = err == nil
		if errors.Is(err, gocql.ErrNotFound) {
			return nil
		}
		return err
	})
	return there, err
}
