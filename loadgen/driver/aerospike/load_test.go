package aerospike

import (
	"strings"
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

// do acts behind the drivers' backs.
func (s store) do(what func(*control) error) {
	s.Helper()
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	if err := what(c); err != nil {
		s.Fatal(err)
	}
}

func (s store) Delete(id string) {
	s.do(func(c *control) error {
		_, err := c.Delete(nil, c.key(c.sets.data, id))
		return withoutNil(err)
	})
}

func (s store) Interrupt() {
	s.do(func(c *control) error {
		mark, err := c.readMarker()
		if err != nil {
			return err
		}
		mark.Data = nil
		return c.putMarker(mark, "run-1")
	})
}

func (s store) Whole() (whole bool) {
	s.do(func(c *control) error {
		mark, err := c.readMarker()
		whole = err == nil && mark.Data != nil && mark.Filling == nil
		return err
	})
	return whole
}

func (s store) put(set, id string) {
	s.do(func(c *control) error {
		return withoutNil(c.Put(c.write, c.key(set, id), client.BinMap{"value": 1}))
	})
}

func (s store) PutCanary() { s.put(s.behind.sets.canary, "1") }

func (s store) Left() string {
	if sets := s.nodes[0].info("sets/test"); strings.Contains(sets, prefix(s.T)) {
		return sets
	}
	return ""
}

func (s store) PutForeign() []string {
	s.put(s.behind.sets.data, "customer")
	return []string{s.behind.sets.data + ": 1", s.nodes[0].address()}
}

func (s store) HasForeign() (there bool) {
	s.do(func(c *control) error {
		var err client.Error
		there, err = c.Exists(nil, c.key(c.sets.data, "customer"))
		return withoutNil(err)
	})
	return there
}

func (s store) RemoveForeign() { s.Delete("customer") }

// withoutNil is an error of the client's own type as one that is nil if there is none.
func withoutNil(err client.Error) error {
	if err == nil {
		return nil
	}
	return err
}

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Store {
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
	if mark, err := control.readMarker(); err != nil || mark == nil || mark.Data == nil {
		t.Errorf("got %+v, %v", mark, err)
	}
}

func TestTheMarkerOfAnotherToolIsRefused(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	control, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	if err := control.putMarker(&marker{MadeBy: "somebody", Schema: 9}, "w"); err != nil {
		t.Fatal(err)
	}
	err = d.Load(t.Context(), drivertest.DatasetOf("run-1"), func(uint64, uint64) { t.Error("it wrote") })
	if err == nil || !strings.Contains(err.Error(), `"somebody", schema 9 (wanted brownout, schema 1)`) {
		t.Errorf("got %v", err)
	}
}
