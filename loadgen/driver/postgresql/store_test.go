package postgresql

import (
	"encoding/json"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the schema of one test.
type store struct {
	drivertest.Drivers
	*server
	behind *Driver // a driver that loads nothing
}

func backdoor(t *testing.T) drivertest.Backdoor {
	s := sharedServer(t)
	drivers := drivertest.Drivers{T: t, Config: func() driver.Config { return configOf(t, s) }, Fresh: blank}
	return store{drivers, s, opened(t, s, nil)}
}

func (s store) Store() driver.Store { return controlled(s.T, s.behind) }

func (s store) Delete(id string) { remove(s.T, s.behind, driver.PlaceData, id) }
func (s store) Remove(id string) { remove(s.T, s.behind, driver.PlaceLedger, id) }

func (s store) exec(sql string, arguments ...any) {
	s.Helper()
	if _, err := s.behind.writes.Exec(s.Context(), sql, arguments...); err != nil {
		s.Fatal(err)
	}
}

func (s store) ledger() string { return s.behind.table(driver.PlaceLedger) }

func (s store) Put(verified bool, id string, record driver.Record, value []byte) {
	s.exec("UPDATE "+s.behind.tableOf(verified)+" SET writer = $2, seq = $3, checksum = $4, value = $5 WHERE id = $1",
		id, record.Writer, int64(record.Seq), int64(record.Checksum), value)
}

func (s store) Misshape(id string, way int) int {
	shapes := []string{"seq = NULL", "value = NULL"}
	s.exec("UPDATE "+s.ledger()+" SET "+shapes[way]+" WHERE id = $1", id)
	return len(shapes)
}

func (s store) Keep(id string) func() {
	old := "old" + drivertest.Namespace(s.T)
	s.exec("DROP TABLE IF EXISTS " + old)
	s.exec("CREATE TABLE "+old+" AS SELECT * FROM "+s.ledger()+" WHERE id = $1", id)
	return func() {
		s.exec("DELETE FROM "+s.ledger()+" WHERE id = $1", id)
		s.exec("INSERT INTO " + s.ledger() + " SELECT * FROM " + old)
	}
}

func (s store) Document(set string, id int64) string {
	var stored map[string]any
	row := s.behind.writes.QueryRow(s.Context(), "SELECT doc FROM "+s.behind.table(set)+" WHERE id = $1::bigint::text", id)
	if err := row.Scan(&stored); err != nil {
		s.Fatal(err)
	}
	text, _ := json.Marshal(stored)
	return string(text)
}

func (s store) PutClient() (there func() bool) {
	table := tableClients + "_" + s.schema()
	s.direct(s.T, "CREATE TABLE IF NOT EXISTS "+table+" (key text PRIMARY KEY)")
	return func() (is bool) {
		row := s.behind.writes.QueryRow(s.Context(), "SELECT to_regclass($1) IS NOT NULL", table)
		return row.Scan(&is) != nil || is
	}
}

func (s store) schema() string { return drivertest.Namespace(s.T) }

func (s store) PutForeign() []string {
	s.direct(s.T, "CREATE SCHEMA IF NOT EXISTS "+s.schema())
	s.direct(s.T, "CREATE TABLE "+s.schema()+".customers ()")
	return []string{"customers", s.Address}
}

func (s store) RemoveForeign() { s.direct(s.T, "DROP SCHEMA "+s.schema()+" CASCADE") }

func TestLoadsAreWhole(t *testing.T)    { drivertest.LoadsAreWhole(t, backdoor) }
func TestClaimsExclude(t *testing.T)    { drivertest.ClaimsExclude(t, backdoor) }
func TestLossesAreFound(t *testing.T)   { drivertest.LossesAreFound(t, backdoor) }
func TestDocumentsAreKept(t *testing.T) { drivertest.DocumentsAreKept(t, drivertest.AsJSON, backdoor) }

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "exists", backdoor)
}
