package couchbase

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the namespace of one test.
type store struct {
	drivertest.Drivers
	drivertest.InKeys
	behind *Driver // a driver that loads nothing
}

func backdoor(t *testing.T) drivertest.Backdoor {
	m := sharedMock(t)
	m.flush(t)
	s := store{behind: opened(t, m, nil)}
	s.Drivers = drivertest.Drivers{T: t, Config: func() driver.Config { return m.config(t) }, Fresh: blank}
	s.InKeys = drivertest.InKeys{
		Keys: s.behind.keys(), Address: m.nodes[0], Get: s.get, Set: s.set, TakeAway: s.takeAway,
		Stored:    func(record driver.Record, value []byte) string { return string(stored(record, value)) },
		Misshapen: []string{"another writer's", "", "r\x00", "rx\x00y\x0000000000"},
	}
	return s
}

func (s store) set(key, value string) {
	s.Helper()
	_, err := s.behind.load.Upsert(key, []byte(value), &gocb.UpsertOptions{Transcoder: raw{}, Timeout: time.Minute})
	if err != nil {
		s.Fatalf("%s: %v", key, err)
	}
}

func (s store) takeAway(key string) {
	s.Helper()
	if _, err := s.behind.load.Remove(key, &gocb.RemoveOptions{Timeout: time.Minute}); err != nil {
		s.Fatalf("%s: %v", key, err)
	}
}

func (s store) get(key string) string {
	s.Helper()
	one, err := found(s.behind.load.Get(key, &gocb.GetOptions{Transcoder: raw{}, Timeout: time.Minute}))
	if err != nil || one == nil {
		s.Fatalf("%s: %v", key, err)
	}
	return string(one.value)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control()
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) Document(set string, id int64) string {
	var stored map[string]any
	if err := json.Unmarshal([]byte(s.get(s.behind.keys().Document(set, id))), &stored); err != nil {
		s.Fatal(err)
	}
	return string(driver.JSON(stored))
}

func TestLoadsAreWhole(t *testing.T)    { drivertest.LoadsAreWhole(t, backdoor) }
func TestClaimsExclude(t *testing.T)    { drivertest.ClaimsExclude(t, backdoor) }
func TestLossesAreFound(t *testing.T)   { drivertest.LossesAreFound(t, backdoor) }
func TestDocumentsAreKept(t *testing.T) { drivertest.DocumentsAreKept(t, drivertest.AsJSON, backdoor) }

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "exists", backdoor)
}
