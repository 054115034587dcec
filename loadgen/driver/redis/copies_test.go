package redis

import (
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// slotsAnswer is CLUSTER SLOTS of two masters on IPv6, the first with two ranges and a replica.
func slotsAnswer(replica any) any {
	node := func(host any, port int64) []any { return []any{host, port, "id", []any{}} }
	first := func(from, to int64) []any { return []any{from, to, node("fd00::1", 7000), replica} }
	return []any{first(0, 99), []any{int64(100), int64(199), node("fd00::2", 7000)}, first(200, 299)}
}

func TestAReplicaHasTheSlotsOfItsMaster(t *testing.T) {
	seen, err := parseSlots(slotsAnswer([]any{"fd00::3", int64(7000), "id"}))
	if err != nil {
		t.Fatal(err)
	}
	holders, err := seen.holders()
	if err != nil || len(holders) != 3 {
		t.Fatalf("%d holders, %v", len(holders), err)
	}
	master, replica := holders[0], holders[1]
	if master.address != "[fd00::1]:7000" || replica.address != "[fd00::3]:7000" {
		t.Errorf("addresses %s and %s", master.address, replica.address)
	}
	if *replica.has != *master.has || !replica.has[99] || replica.has[100] || !replica.has[299] {
		t.Error("the replica has other slots than its master")
	}
}

func TestAReplicaWithoutAnAddressFailsTheCopiesAndNotTheLanes(t *testing.T) {
	for name, replica := range map[string]any{
		"empty": []any{"", int64(7000), "id"}, "null": []any{nil, int64(7000), "id"}, "no list": "x",
	} {
		seen, err := parseSlots(slotsAnswer(replica))
		if err != nil || len(seen.shards) != 2 || seen.owners[0].lane != "slots 0-99" {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := seen.holders(); err == nil || !strings.Contains(err.Error(), "replica") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEachMasterAndReplicaTellsItsOwnCopy(t *testing.T) {
	c := ownCluster(t, 3, 3, driver.TLS{})
	d := opened(t, c, nil)
	drivertest.Until(t, "every node lists every replica", func() bool { // the client asks any of them
		for _, s := range c.servers {
			answer, err := c.ask(t, s.Server, "CLUSTER", "SLOTS")
			if err != nil {
				return false
			}
			seen, err := parseSlots(answer)
			if err != nil {
				return false
			}
			if holders, err := seen.holders(); err != nil || len(holders) != 6 {
				return false
			}
		}
		return true
	})
	drivertest.CopiesAreRead(t, d, 6, 2, func(id string) {
		key := d.keys().Key(false, id)
		alone := "redis.set_repl(redis.REPL_NONE) return redis.call('SET', KEYS[1], 'garbled')"
		if _, err := c.ask(t, c.owner(t, d, key).Server, "EVAL", alone, "1", key); err != nil {
			t.Fatal(err)
		}
	})
}
