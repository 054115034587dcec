package redis

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func load(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Load(t, d, d.config.Writer)
}

// store is the namespace of one test.
type store struct {
	*testing.T
	*cluster
	behind *Driver // a driver that loads nothing
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.cluster, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	config := driver.Config{URI: s.uri(), Namespace: namespace(s.T)}
	change(&config)
	return openedFrom(s.T, config)
}

func (s store) Delete(id string) { remove(s.T, s.behind, s.behind.keyOf(false, id)) }

func (s store) Store() driver.Store {
	c, err := s.behind.control()
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) PutCanary() {} // there is none

func (s store) PutForeign() []string {
	put(s.T, s.behind, namespace(s.T)+"/customers", "1")
	return []string{"customers", s.servers[0].address}
}

func (s store) RemoveForeign() { remove(s.T, s.behind, namespace(s.T)+"/customers") }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Backdoor {
		c := sharedCluster(t)
		return store{t, c, opened(t, c, nil)}
	})
}
