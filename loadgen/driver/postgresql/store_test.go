package postgresql

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func load(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Load(t, d, d.config.Writer)
}

// store is the schema of one test.
type store struct {
	*testing.T
	*server
	behind *Driver // a driver that loads nothing
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.server, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	config := driver.Config{URI: uriOf(s.server), Username: "postgres", Namespace: namespace(s.T)}
	change(&config)
	return openedFrom(s.T, config)
}

func (s store) Delete(id string) { remove(s.T, s.behind, tableData, id) }

func (s store) Store() driver.Store { return controlled(s.T, s.behind) }

func (s store) PutCanary() {} // there is none

func (s store) PutForeign() []string {
	s.direct(s.T, "CREATE SCHEMA IF NOT EXISTS "+namespace(s.T))
	s.direct(s.T, "CREATE TABLE "+namespace(s.T)+".customers ()")
	return []string{"customers", s.address}
}

func (s store) RemoveForeign() { s.direct(s.T, "DROP SCHEMA "+namespace(s.T)+" CASCADE") }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Backdoor {
		s := sharedServer(t)
		return store{t, s, opened(t, s, nil)}
	})
}
