package redis

import (
	"encoding/json"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the namespace of one test.
type store struct {
	drivertest.Drivers
	drivertest.InKeys
	behind *Driver // a driver that loads nothing
}

// by returns the store of a test whose drivers have that client.
func by(client string) func(t *testing.T) drivertest.Backdoor {
	return func(t *testing.T) drivertest.Backdoor {
		c := sharedCluster(t)
		s := store{behind: opened(t, c, with(client))}
		s.Drivers = drivertest.Drivers{T: t, Fresh: blank, Config: func() driver.Config {
			config := c.config(t)
			with(client)(&config)
			return config
		}}
		s.InKeys = drivertest.InKeys{
			Keys: s.behind.keys(), Address: c.servers[0].Address, Stored: stored,
			Get: func(key string) string {
				value, there := s.do(read("GET", key)).(string)
				if !there {
					t.Fatalf("%s is not there", key)
				}
				return value
			},
			Set: func(key, value string) { s.do(write("SET", key, value)) },
			TakeAway: func(key string) {
				if s.do(write("DEL", key)) != int64(1) {
					t.Fatalf("%s is not there", key)
				}
			},
			Misshapen: []string{"another writer's", "r\x00x\x00", ""},
		}
		return s
	}
}

func (s store) do(asked command) any {
	s.Helper()
	value, err := s.control().one(s.Context(), asked)
	if err != nil {
		s.Fatal(err)
	}
	return value
}

func (s store) control() *control {
	s.Helper()
	c, err := s.behind.control()
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) PutClient() (there func() bool) {
	place := s.behind.keys().Of(placeClient)
	s.Set(place+"1", "1")
	return func() (is bool) {
		err := s.control().scan(s.Context(), place, func(keys []string) (bool, error) {
			is = is || len(keys) > 0
			return is, nil
		})
		return is || err != nil
	}
}

func (s store) Store() driver.Store { return s.control() }

func (s store) Document(set string, id int64) string {
	fields := map[string]json.RawMessage{}
	hash, _ := s.do(read("HGETALL", s.behind.keys().Document(set, id))).(map[string]any)
	for name, value := range hash {
		fields[name] = json.RawMessage(value.(string))
	}
	return string(driver.JSON(fields))
}

func TestLoadsAreWhole(t *testing.T) { drivertest.LoadsAreWhole(t, by(valkeyGo)) }
func TestClaimsExclude(t *testing.T) { drivertest.ClaimsExclude(t, by(valkeyGo)) }
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
