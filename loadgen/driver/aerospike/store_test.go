package aerospike

import (
	"fmt"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// patience is how long the back door waits for an answer. The client's own second is too short on a
// busy machine, where a test would fail without a free processor.
const patience = 30 * time.Second

// store is the sets of one test.
type store struct {
	drivertest.Drivers
	*cluster
	behind *Driver // a driver that loads nothing
}

func backdoor(t *testing.T) drivertest.Backdoor {
	c := sharedCluster(t)
	drivers := drivertest.Drivers{T: t, Config: func() driver.Config { return configFor(t, c) }, Fresh: blank}
	behind := opened(t, c, nil)
	reads, writes := client.NewPolicy(), client.NewWritePolicy(0, client.TTLDontExpire)
	reads.TotalTimeout, writes.TotalTimeout = patience, patience
	behind.client.SetDefaultPolicy(reads)
	behind.client.SetDefaultWritePolicy(writes)
	return store{drivers, c, behind}
}

func (s store) Store() driver.Store {
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) key(set, id string) *client.Key {
	key, _ := client.NewKey("test", set, id)
	return key
}

func (s store) delete(set, id string) {
	s.Helper()
	if there, err := s.behind.client.Delete(nil, s.key(set, id)); err != nil || !there {
		s.Fatal(err)
	}
}

func (s store) Delete(id string) { s.delete(s.behind.sets.data, id) }
func (s store) Remove(id string) { s.delete(s.behind.sets.ledger, id) }

func (s store) get(key *client.Key) client.BinMap {
	s.Helper()
	record, err := s.behind.client.Get(nil, key)
	if err != nil {
		s.Fatal(err)
	}
	return record.Bins
}

// put stores these bins and no others.
func (s store) put(set, id string, bins client.BinMap) {
	s.Helper()
	policy := client.NewWritePolicy(0, client.TTLDontExpire)
	policy.RecordExistsAction, policy.TotalTimeout = client.REPLACE, patience
	if err := s.behind.client.Put(policy, s.key(set, id), bins); err != nil {
		s.Fatal(err)
	}
}

func (s store) Put(verified bool, id string, record driver.Record, value []byte) {
	s.put(s.behind.sets.of(verified), id, client.BinMap{
		binWriter: record.Writer, binSeq: int(record.Seq), binChecksum: int(record.Checksum), driver.FieldNames[0]: value,
	})
}

func (s store) Misshape(id string, way int) int {
	shapes := []client.BinMap{{binChecksum: "x"}, {binSeq: 9}}
	bins := s.get(s.key(s.behind.sets.ledger, id))
	for name, value := range shapes[way] {
		bins[name] = value
	}
	s.put(s.behind.sets.ledger, id, bins)
	return len(shapes)
}

// Keep puts it back as a record of its own, whose generation begins anew.
func (s store) Keep(id string) func() {
	old := s.get(s.key(s.behind.sets.ledger, id))
	return func() {
		s.Remove(id)
		s.put(s.behind.sets.ledger, id, old)
	}
}

func (s store) Document(set string, id int64) string {
	return fmt.Sprint(s.get(s.behind.sets.documentKey(set, id)))
}

func (s store) PutClient() (there func() bool) {
	s.put(s.behind.sets.client, "1", client.BinMap{"value": 1})
	return func() bool {
		counts, err := s.Store().(*control).counts()
		return err != nil || counts[s.behind.sets.client] > 0
	}
}

func (s store) PutForeign() []string {
	s.put(s.behind.sets.data, "customer", client.BinMap{"value": 1})
	return []string{s.behind.sets.data + ": 1", s.nodes[0].Address}
}

func (s store) RemoveForeign() { s.Delete("customer") }

func TestLoadsAreWhole(t *testing.T)  { drivertest.LoadsAreWhole(t, backdoor) }
func TestClaimsExclude(t *testing.T)  { drivertest.ClaimsExclude(t, backdoor) }
func TestLossesAreFound(t *testing.T) { drivertest.LossesAreFound(t, backdoor) }

func TestDocumentsAreKept(t *testing.T) {
	// A truth is a number.
	const stored = "map[amount:12.34 at:2026-11-23T12:00:00.0000000+00:00 list:[1 b] n:4 name:y nested:map[a:1]]"
	drivertest.DocumentsAreKept(t, stored, backdoor)
}

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "5 KEY_EXISTS_ERROR", backdoor)
}

// TestTheMarkerOutlivesLostPartitions: as long as one of its copies is there, the
// sets are ours.
func TestTheMarkerOutlivesLostPartitions(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	drivertest.LoadFew(t, d)
	control, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	for i := range markerCopies - 1 {
		if _, err := control.Delete(control.write, control.markerKey(i)); err != nil {
			t.Fatal(err)
		}
	}
	drivertest.LoadFew(t, d)
	if mark, err := control.ReadMarker(t.Context()); err != nil || mark == nil || mark.Data == nil {
		t.Errorf("got %+v, %v", mark, err)
	}
}
