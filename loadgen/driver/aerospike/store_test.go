package aerospike

import (
	"testing"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func load(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Load(t, d, d.config.Writer)
}

// store is the sets of one test.
type store struct {
	*testing.T
	*cluster
	behind *Driver // a driver that loads nothing
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.cluster, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	config := configFor(s.T, s.cluster)
	change(&config)
	return refused(s.T, config)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) Delete(id string) {
	if there, err := s.behind.client.Delete(nil, s.key(s.behind.sets.data, id)); err != nil || !there {
		s.Fatal(err)
	}
}

func (s store) key(set, id string) *client.Key {
	key, _ := client.NewKey("test", set, id)
	return key
}

func (s store) put(set, id string) {
	if err := s.behind.client.Put(nil, s.key(set, id), client.BinMap{"value": 1}); err != nil {
		s.Fatal(err)
	}
}

func (s store) PutCanary() { s.put(s.behind.sets.canary, "1") }

func (s store) PutForeign() []string {
	s.put(s.behind.sets.data, "customer")
	return []string{s.behind.sets.data + ": 1", s.nodes[0].address()}
}

func (s store) RemoveForeign() { s.Delete("customer") }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Backdoor {
		c := sharedCluster(t)
		return store{t, c, opened(t, c, nil)}
	})
}

// TestTheMarkerOutlivesLostPartitions: as long as one of its copies is there, the
// sets are ours.
func TestTheMarkerOutlivesLostPartitions(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
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
	load(t, d)
	if mark, err := control.ReadMarker(t.Context()); err != nil || mark == nil || mark.Data == nil {
		t.Errorf("got %+v, %v", mark, err)
	}
}
