package etcd

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the namespace of one test.
type store struct {
	*testing.T
	*cluster
	behind *Driver // a driver that loads nothing
}

func backdoor(t *testing.T) drivertest.Backdoor {
	c := sharedCluster(t)
	return store{t, c, opened(t, c, nil)}
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.cluster, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	return drivertest.Refusal(s.T, &Driver{}, drivertest.Config(s.T, s.uri()), change)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) Delete(id string) { remove(s.T, s.behind, s.behind.keys().Key(false, id)) }
func (s store) Remove(id string) { remove(s.T, s.behind, s.behind.keys().Key(true, id)) }

func (s store) put(id, value string) { put(s.T, s.behind, s.behind.keys().Key(true, id), value) }

func (s store) Put(id string, record driver.Record, value []byte) { s.put(id, stored(record, value)) }

func (s store) Misshape(id string, way int) int {
	shapes := []string{"somebody else's", ""}
	s.put(id, shapes[way])
	return len(shapes)
}

func (s store) Keep(id string) func() {
	old := get(s.T, s.behind, s.behind.keys().Key(true, id))
	return func() { s.put(id, old) }
}

func (s store) Document(set string, id int64) string {
	return get(s.T, s.behind, s.behind.keys().Document(set, id))
}

func (s store) PutCanary() {} // there is none

func (s store) foreign() string { return drivertest.Namespace(s.T) + "/customers" }

func (s store) PutForeign() []string {
	put(s.T, s.behind, s.foreign(), "1")
	return []string{"customers", s.servers[0].Address}
}

func (s store) RemoveForeign() { remove(s.T, s.behind, s.foreign()) }

func TestLoadsAreWhole(t *testing.T)    { drivertest.LoadsAreWhole(t, backdoor) }
func TestLossesAreFound(t *testing.T)   { drivertest.LossesAreFound(t, backdoor) }
func TestDocumentsAreKept(t *testing.T) { drivertest.DocumentsAreKept(t, drivertest.AsJSON, backdoor) }

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "exists", backdoor)
}
