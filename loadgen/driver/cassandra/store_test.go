package cassandra

import (
	"fmt"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the keyspace of one test.
type store struct {
	drivertest.Drivers
	*cluster
	behind *Driver // a driver that loads nothing
}

func backdoor(t *testing.T) drivertest.Backdoor {
	c := sharedCluster(t)
	drivers := drivertest.Drivers{T: t, Config: func() driver.Config { return c.config(t) }, Fresh: blank}
	behind := drivers.Open(nil).(*Driver)
	t.Cleanup(func() { // every table costs the node memory
		_ = behind.session.Query(fmt.Sprintf("DROP KEYSPACE IF EXISTS %q", behind.config.Namespace)).Exec()
	})
	return store{drivers, c, behind}
}

func (s store) Store() driver.Store { return controlled(s.T, s.behind) }

func (s store) exec(statement string, values ...any) {
	s.Helper()
	if err := s.behind.session.Query(statement, values...).Exec(); err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
}

func (s store) deleteFrom(id string, tables ...string) {
	s.Helper()
	for _, name := range tables {
		s.exec("DELETE FROM "+s.behind.table(name)+" WHERE id = ?", id)
	}
}

func (s store) Delete(id string) { s.deleteFrom(id, driver.PlaceData, tableDataCounters) }
func (s store) Remove(id string) { s.deleteFrom(id, driver.PlaceLedger, tableLedgerCounters) }

func (s store) ledger() string { return s.behind.table(driver.PlaceLedger) }

func (s store) Put(verified bool, id string, record driver.Record, value []byte) {
	records, _ := s.behind.tablesOf(verified)
	s.exec("INSERT INTO "+records+" ("+columns+") VALUES (?, ?, ?, ?, ?)", id, record.Writer, int64(record.Seq),
		int64(record.Checksum), value)
}

func (s store) Misshape(id string, way int) int {
	shapes := []string{"seq = null", "value = null"}
	s.exec("UPDATE "+s.ledger()+" SET "+shapes[way]+" WHERE id = ?", id)
	return len(shapes)
}

func (s store) Keep(id string) func() {
	s.Helper()
	var old row
	iter := s.behind.session.Query(theRecord(s.ledger()), id).Iter()
	there := old.scan(iter)
	if err := iter.Close(); err != nil {
		s.Fatal(err)
	}
	if there {
		return func() { s.Put(true, id, *old.found().Record, old.value) }
	}
	n := s.Count(true, id)
	return func() {
		s.exec("UPDATE "+s.behind.table(tableLedgerCounters)+" SET n = n - ? WHERE id = ?", s.Count(true, id)-n, id)
	}
}

func (s store) Count(verified bool, id string) int64 {
	s.Helper()
	c := call{Driver: s.behind, op: &driver.Op{Verified: verified}}
	f, err := lookAtCounter(s.Context(), s.behind.session.Query(theCounter(c.counters()), id))
	if err != nil || f == nil {
		s.Fatalf("%s: %+v, %v", id, f, err)
	}
	return f.Count
}

func (s store) Overwrites() {}

func (s store) Document(set string, id int64) (text string) {
	s.Helper()
	table := s.behind.table(tableDocuments)
	err := s.behind.session.Query("SELECT doc FROM "+table+" WHERE id = ?", documentKey(set, id)).Scan(&text)
	if err != nil {
		s.Fatal(err)
	}
	return text
}

func (s store) PutClient() (there func() bool) {
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	s.exec(fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %q WITH replication = "+
		"{'class': 'SimpleStrategy', 'replication_factor': 1}", c.keyspaceOfClients()))
	return func() bool {
		is, err := c.isKeyspace(s.Context(), c.keyspaceOfClients())
		return err != nil || is
	}
}

func (s store) PutForeign() []string {
	s.exec(fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %q WITH replication = "+
		"{'class': 'SimpleStrategy', 'replication_factor': 1}", s.behind.config.Namespace))
	s.exec("CREATE TABLE " + s.behind.table("customers") + " (id text PRIMARY KEY)")
	return []string{"customers", s.servers[0].Address}
}

func (s store) RemoveForeign() { s.exec("DROP TABLE " + s.behind.table("customers")) }

func TestLoadsAreWhole(t *testing.T)    { drivertest.LoadsAreWhole(t, backdoor) }
func TestClaimsExclude(t *testing.T)    { drivertest.ClaimsExclude(t, backdoor) }
func TestLossesAreFound(t *testing.T)   { drivertest.LossesAreFound(t, backdoor) }
func TestDocumentsAreKept(t *testing.T) { drivertest.DocumentsAreKept(t, drivertest.AsJSON, backdoor) }

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "", backdoor)
}
