package mongodb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/mongodb/shardkey"
)

// laneShards is the lane of a batch whose keys are on several shards.
const laneShards = "shards"

// placement is the map at one moment; it is never changed.
type placement struct {
	collections map[string]*shardkey.Chunks // by name; absent if not sharded by _id
	primary     string                      // shard of the collections that are not sharded
	views       map[string]*watcher         // by shard
	hosts       map[string][]string         // by shard: some members of its set
}

// lane names the shard that has the keys of op, and the server there that is
// selected by mode: "s1/10.0.0.7:27018", "s1/unrouted".
func (s *shards) lane(op *driver.Op, mode readpref.Mode) string {
	now := s.current.Load()
	if op.Kind != driver.Batch {
		return now.lane(now.shardOf(op.ID, op.Verified), mode)
	}
	shard := ""
	for i, id := range op.IDs {
		of := now.shardOf(id, op.Verified)
		if i > 0 && of != shard {
			return laneShards
		}
		shard = of
	}
	return now.lane(shard, mode)
}

func (p *placement) shardOf(id string, verified bool) string {
	if chunks := p.collections[collectionOf(verified)]; chunks != nil {
		return chunks.ShardOf(id)
	}
	return p.primary
}

func (p *placement) lane(shard string, mode readpref.Mode) string {
	watcher := p.views[shard]
	if watcher == nil {
		return laneRouters // sharded by something that an operation's key does not tell
	}
	return shard + "/" + watcher.current.Load().lane(mode)
}

// shard spreads an empty collection over the shards by the hash of its keys.
func shard(ctx context.Context, database *mongo.Database, name string) error {
	admin := database.Client().Database("admin")
	// Needed before 6.0, and does nothing from then on.
	enable := bson.D{{Key: "enableSharding", Value: database.Name()}}
	if err := admin.RunCommand(ctx, enable).Err(); err != nil {
		return fmt.Errorf("sharding %s: %w", database.Name(), err)
	}
	spread := bson.D{
		{Key: "shardCollection", Value: database.Name() + "." + name},
		{Key: "key", Value: bson.D{{Key: "_id", Value: "hashed"}}},
	}
	if err := admin.RunCommand(ctx, spread).Err(); err != nil {
		return fmt.Errorf("sharding %s.%s: %w", database.Name(), name, err)
	}
	return nil
}

// settings says for the record of the run how the keys lie.
func (s *shards) settings() map[string]any {
	now := s.current.Load()
	chunks := map[string]int{}
	for name, collection := range now.collections {
		chunks[name] = collection.Len()
	}
	return map[string]any{"shards": slices.Sorted(maps.Keys(now.views)), "chunks": chunks}
}
