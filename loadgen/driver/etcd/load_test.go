package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

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

func (s store) Interrupt() {
	mark, err := markerOf(s.T, s.behind)
	if err != nil {
		s.Fatal(err)
	}
	mark.Data = nil
	putMarkerOf(s.T, s.behind, mark)
}

func (s store) Whole() bool {
	mark, err := markerOf(s.T, s.behind)
	if err != nil {
		s.Fatal(err)
	}
	return mark.Data != nil && mark.Filling == nil
}

func (s store) PutCanary() { put(s.T, s.behind, s.behind.folder(folderCanary)+"1", "1") }

func (s store) count(prefix string) int64 {
	got, err := s.direct(s.T, s.servers[0]).Get(s.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		s.Fatal(err)
	}
	return got.Count
}

func (s store) Left() string {
	if s.count(namespace(s.T)+"/") == 0 {
		return ""
	}
	return "a key"
}

func (s store) customer() string { return namespace(s.T) + "/customers" }

func (s store) PutForeign() []string {
	put(s.T, s.behind, s.customer(), "1")
	return []string{"customers", s.servers[0].address}
}

func (s store) HasForeign() bool { return s.count(s.customer()) == 1 }

func (s store) RemoveForeign() { remove(s.T, s.behind, s.customer()) }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Store {
		c := sharedCluster(t)
		return store{t, c, opened(t, c, nil)}
	})
}

func controlled(t *testing.T, d *Driver) *control {
	t.Helper()
	c, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func markerOf(t *testing.T, d *Driver) (*marker, error) {
	t.Helper()
	return controlled(t, d).readMarker(t.Context())
}

func putMarkerOf(t *testing.T, d *Driver, mark *marker) {
	t.Helper()
	if err := controlled(t, d).putMarker(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
}
