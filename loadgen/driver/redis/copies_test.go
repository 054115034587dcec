package redis

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

const clusterNodes = `9ca616dff1c3103852246c17420abe1b24901a23 127.0.0.1:28768@31034 slave 4c2ae0ef8033937405420254cd2572d8b16e866a 0 1795854144923 1 connected
a78fdddde1183e66c2f7c0f74848b94426d50c2d 127.0.0.1:20970@26918 slave e4a9c9eb8bd347c4c30761217835390c5eb3baa0 0 1795854144923 2 connected
e5a7b76156a117e388d3eb427ea92fde3827a2a6 127.0.0.1:30737@32706 master - 0 1795854144822 3 connected 10922-16383
e4a9c9eb8bd347c4c30761217835390c5eb3baa0 127.0.0.1:21095@20559 master - 0 1795854144923 2 connected 5461-10921
4c2ae0ef8033937405420254cd2572d8b16e866a 127.0.0.1:25870@30771 myself,master - 0 1795854144000 1 connected 0-5460
124301f98d7aeeee3b9c15d51bb3d07ce34ecb44 127.0.0.1:23000@25897 slave e5a7b76156a117e388d3eb427ea92fde3827a2a6 0 1795854145024 3 connected
`

func TestEveryServerHasTheSlotsOfItsMaster(t *testing.T) {
	holders, err := parseNodes(clusterNodes)
	if err != nil || len(holders) != 6 {
		t.Fatalf("%d holders, %v", len(holders), err)
	}
}

func TestEachMasterAndReplicaTellsItsOwnCopy(t *testing.T) {
	c := ownCluster(t, 3, 3, driver.TLS{})
	d := opened(t, c, nil)
	drivertest.CopiesAreRead(t, d, 6, 2, func(id string) {
		key := d.keys().Key(false, id)
		alone := "redis.set_repl(redis.REPL_NONE) return redis.call('SET', KEYS[1], 'garbled')"
		if _, err := c.ask(t, c.owner(t, d, key).Server, "EVAL", alone, "1", key); err != nil {
			t.Fatal(err)
		}
	})
}
