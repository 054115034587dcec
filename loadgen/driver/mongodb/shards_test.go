package mongodb

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/mongodb/shardkey"
)

func TestAHashIsWhatTheServersIndexHas(t *testing.T) {
	server := sharedMongod(t)
	records := server.direct(t, options.Client()).Database(drivertest.Namespace(t)).Collection("c")
	ids := []string{"", "a", "ü", driver.DataID(7), driver.LedgerID("orders", true, 3), strings.Repeat("x", 300)}
	for _, id := range ids {
		if _, err := records.InsertOne(t.Context(), byID(id)); err != nil {
			t.Fatal(err)
		}
	}
	hashed := bson.D{{Key: "_id", Value: "hashed"}}
	if _, err := records.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: hashed}); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		var key struct {
			Hash int64 `bson:"_id"`
		}
		how := options.FindOne().SetHint(hashed).SetReturnKey(true)
		if err := records.FindOne(t.Context(), byID(id), how).Decode(&key); err != nil {
			t.Fatal(err)
		}
		if got := shardkey.Hash(id); got != key.Hash {
			t.Errorf("%.20q: got %d, the server says %d", id, got, key.Hash)
		}
	}
}

// sharded is a driver with a loaded data set, before a stand-in for a router and
// two real replica sets of one member each.
func sharded(t *testing.T) (d *Driver, servers [2]*mongod) {
	t.Helper()
	shards := map[string]string{}
	for i := range servers {
		servers[i] = ownMongod(t)
		servers[i].initiate(t, options.Client())
		shards[fmt.Sprintf("s%d", i+1)] = "rs/" + servers[i].Address
	}
	router := router(t, shards)
	d = opened(t, servers[0], func(c *driver.Config) {
		c.URI = "mongodb://" + router + "/"
	})
	drivertest.LoadFew(t, d)
	return d, servers
}

// router starts a stand-in for a router and returns its address.
func router(t *testing.T, shards map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	text, err := json.Marshal(map[string]any{"listen": "127.0.0.1:0", "shards": shards})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(directory, "router.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(drivertest.StandIn(t, "router", directory), "--config", config)
	process.Stderr = t.Output()
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), " listens on ")
	if !found {
		t.Fatalf("the stand-in said %q: %v", line, err)
	}
	return address
}

// dataKeys is the ids of the plain data set by the shard that their lane names.
func dataKeys(d *Driver) map[string][]string {
	found := map[string][]string{}
	for i := range drivertest.Few {
		id := driver.DataID(i)
		shard, _, _ := strings.Cut(d.Lane(&driver.Op{Kind: driver.Read, ID: id}), "/")
		found[shard] = append(found[shard], id)
	}
	return found
}

func (m *mongod) has(t *testing.T, d *Driver, id string) bool {
	t.Helper()
	records := m.direct(t, options.Client()).Database(d.config.Namespace).Collection(collectionData)
	n, err := records.CountDocuments(t.Context(), byID(id))
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestBehindARouterALaneIsTheShardOfTheKeyAndItsPrimary(t *testing.T) {
	d, servers := sharded(t)
	addresses := map[string]*mongod{"s1": servers[0], "s2": servers[1]}
	keys := dataKeys(d)
	if len(keys) != 2 || len(keys["s1"]) == 0 || len(keys["s2"]) == 0 {
		t.Fatalf("the keys are on %d shards, wanted both: %v", len(keys), keys)
	}
	for shard, ids := range keys {
		want := shard + "/" + addresses[shard].Address
		for _, id := range ids[:5] {
			if got := d.Lane(&driver.Op{Kind: driver.Update, ID: id}); got != want {
				t.Errorf("the lane of %s: got %s, wanted %s", id, got, want)
			}
			if !addresses[shard].has(t, d, id) {
				t.Errorf("%s is not where its lane says", id)
			}
		}
		batch := driver.Op{Kind: driver.Batch, IDs: ids[:3]}
		if got := d.Lane(&batch); got != want {
			t.Errorf("a batch of one shard: got %s, wanted %s", got, want)
		}
	}
	both := driver.Op{Kind: driver.Batch, IDs: []string{keys["s1"][0], keys["s2"][0]}}
	if got := d.Lane(&both); got != laneShards {
		t.Errorf("a batch of both shards: got %s, wanted %s", got, laneShards)
	}
	if got := do(t, d, both); got.Class != driver.OK || !got.Found {
		t.Errorf("a batch of both shards: %+v", got)
	}
	if got := d.LaneCap(); got != d.policy.PoolSize/2 {
		t.Errorf("a lane's cap: got %d, wanted half of the router's pool", got)
	}
	said := d.Settings()["sharded"].(map[string]any)["chunks"].(map[string]int)
	if said[collectionData] != 4 || said[collectionLedger] != 4 {
		t.Errorf("the settings name %v chunks, wanted 4 of each collection", said)
	}

	t.Run("every kind of operation is done, and the ledger is read back", func(t *testing.T) {
		id := driver.LedgerID("orders", false, 0)
		for _, op := range []driver.Op{
			update("of-the-test"), {Kind: driver.Read, ID: keys["s2"][0]},
			{Kind: driver.Operate, Stream: 1, ID: id, Verified: true, Value: []byte("v"),
				Record: driver.NewRecord("run-1", id, 3, []byte("v"))},
		} {
			if got := do(t, d, op); got.Class != driver.OK {
				t.Errorf("%v: %+v", op.Kind, got)
			}
		}
		var back []driver.ReadBack
		ids := []string{id, driver.LedgerID("orders", false, 1), driver.LedgerID("orders", false, 29)}
		err := d.ReadBack(t.Context(), true, ids, false, func(r driver.ReadBack) { back = append(back, r) })
		if err != nil || len(back) != 3 || back[0].Missing || back[0].Record.Seq != 3 {
			t.Errorf("read back %+v, %v", back, err)
		}
	})

	t.Run("a chunk that moves takes its lane with it", func(t *testing.T) {
		id := keys["s1"][0]
		move := bson.D{
			{Key: "moveChunk", Value: d.config.Namespace + "." + collectionData},
			{Key: "find", Value: byID(id)}, {Key: "to", Value: "s2"},
		}
		if err := d.shards.client.Database("admin").RunCommand(t.Context(), move).Err(); err != nil {
			t.Fatal(err)
		}
		drivertest.Until(t, "the lane is that of the other shard", func() bool {
			return d.Lane(&driver.Op{Kind: driver.Read, ID: id}) == "s2/"+servers[1].Address
		})
		if !servers[1].has(t, d, id) {
			t.Error("the document has not moved")
		}
	})

	t.Run("a shard that dies is felt in its own lane and in no other", func(t *testing.T) {
		keys := dataKeys(d)
		servers[1].Kill()
		drivertest.Until(t, "the dead shard has no primary", func() bool {
			return d.Lane(&driver.Op{Kind: driver.Read, ID: keys["s2"][0]}) == "s2/"+laneUnrouted
		})
		for _, id := range keys["s1"][:5] {
			if got := d.Lane(&driver.Op{Kind: driver.Read, ID: id}); got != "s1/"+servers[0].Address {
				t.Errorf("the lane of %s: got %s", id, got)
			}
			if got := do(t, d, driver.Op{Kind: driver.Read, ID: id}); got.Class != driver.OK || !got.Found {
				t.Errorf("a key of the living shard: %+v", got)
			}
		}
		if got := do(t, d, driver.Op{Kind: driver.Read, ID: keys["s2"][0]}); got.Class != driver.Failed {
			t.Errorf("a key of the dead shard: %+v", got)
		}
	})
}

func TestALaneBehindARouterFollowsTheReadPreference(t *testing.T) {
	chunks, err := shardkey.NewChunks(bson.D{{Key: "_id", Value: "hashed"}},
		[]shardkey.Chunk{{Min: shardkey.Lowest(), Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	at := newWatcher()
	at.current.Store(&view{primary: "a:1", secondaries: true})
	s := &shards{}
	s.current.Store(&placement{
		collections: map[string]*shardkey.Chunks{collectionData: chunks},
		views:       map[string]*watcher{"s1": at},
	})
	for mode, want := range map[readpref.Mode]string{
		readpref.PrimaryMode: "s1/a:1", readpref.SecondaryMode: "s1/secondaries", readpref.NearestMode: "s1/members",
	} {
		if got := s.lane(&driver.Op{ID: "x"}, mode); got != want {
			t.Errorf("got %s, wanted %s", got, want)
		}
	}
	// Not sharded by _id, and of no database that the routers know: nothing tells the shard.
	if got := s.lane(&driver.Op{ID: "x", Verified: true}, readpref.PrimaryMode); got != laneRouters {
		t.Errorf("got %s, wanted %s", got, laneRouters)
	}
	at.current.Store(&view{})
	if got := s.lane(&driver.Op{ID: "x"}, readpref.PrimaryMode); got != "s1/"+laneUnrouted {
		t.Errorf("without a primary: got %s", got)
	}
}
