package redis

import (
	"encoding/json"
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

// by returns the store of a test whose drivers have that client.
func by(client string) func(t *testing.T) drivertest.Backdoor {
	return func(t *testing.T) drivertest.Backdoor {
		c := sharedCluster(t)
		return store{t, c, opened(t, c, with(client))}
	}
}

func (s store) Open(change func(*driver.Config)) driver.Driver {
	return opened(s.T, s.cluster, func(config *driver.Config) {
		with(s.behind.policy.Client)(config)
		if change != nil {
			change(config)
		}
	})
}

func (s store) Refusal(change func(*driver.Config)) string {
	return drivertest.Refusal(s.T, &Driver{}, drivertest.Config(s.T, s.uri()), change)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control()
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
	shapes := []string{"somebody else's", "r\x00x\x00", ""}
	s.put(id, shapes[way])
	return len(shapes)
}

func (s store) Keep(id string) func() {
	old := get(s.T, s.behind, s.behind.keys().Key(true, id))
	return func() { s.put(id, old) }
}

func (s store) Document(set string, id int64) string {
	fields := map[string]json.RawMessage{}
	hash, _ := direct(s.T, s.behind, read("HGETALL", s.behind.keys().Document(set, id))).(map[string]any)
	for name, value := range hash {
		fields[name] = json.RawMessage(value.(string))
	}
	text, _ := json.Marshal(fields)
	return string(text)
}

func (s store) PutCanary() {} // there is none

func (s store) foreign() string { return drivertest.Namespace(s.T) + "/customers" }

func (s store) PutForeign() []string {
	put(s.T, s.behind, s.foreign(), "1")
	return []string{"customers", s.servers[0].Address}
}

func (s store) RemoveForeign() { remove(s.T, s.behind, s.foreign()) }

func TestLoadsAreWhole(t *testing.T) { drivertest.LoadsAreWhole(t, by(valkeyGo)) }
func TestDocumentsAreKept(t *testing.T) {
	drivertest.DocumentsAreKept(t, drivertest.AsJSON, by(valkeyGo))
}

func TestLossesAreFound(t *testing.T) {
	for _, client := range clients {
		t.Run(client, func(t *testing.T) { drivertest.LossesAreFound(t, by(client)) })
	}
}

func TestOperationsDoWhatTheySay(t *testing.T) {
	for _, client := range clients {
		t.Run(client, func(t *testing.T) { drivertest.OperationsDoWhatTheySay(t, "exists", by(client)) })
	}
}
