package etcd

import (
	"encoding/json"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

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
	c := sharedCluster(t)
	s := store{behind: opened(t, c, nil)}
	s.Drivers = drivertest.Drivers{
		T: t, Config: func() driver.Config { return drivertest.Config(t, c.uri()) }, Fresh: blank,
	}
	s.InKeys = drivertest.InKeys{
		Keys: s.behind.keys(), Address: c.servers[0].Address, Get: s.get,
		Set:       func(key, value string) { s.do(clientv3.OpPut(key, value)) },
		TakeAway:  func(key string) { s.do(clientv3.OpDelete(key)) },
		Stored:    stored,
		Misshapen: []string{"another writer's", ""},
	}
	return s
}

func (s store) do(op clientv3.Op) clientv3.OpResponse {
	s.Helper()
	done, err := s.behind.members[0].client.Load().Do(s.Context(), op)
	if err != nil || (op.IsDelete() && done.Del().Deleted != 1) {
		s.Fatalf("%s: %v", op.KeyBytes(), err)
	}
	return done
}

func (s store) get(key string) string {
	s.Helper()
	kv := first(s.do(clientv3.OpGet(key)).Get().Kvs)
	if kv == nil {
		s.Fatalf("%s is not there", key)
	}
	return string(kv.Value)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control(s.Context())
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
