package standin

import (
	"math"
	"reflect"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver/mongodb/shardkey"
)

// chunksAShard is how many chunks a new collection gets on each shard.
const chunksAShard = 2

// catalog is what a config server keeps: which collection is spread how.
type catalog struct {
	mu          sync.Mutex
	shards      []*Shard
	databases   map[string]bool
	collections map[string]*collection // by their full names
}

// collection is sharded by the hash of _id; chunk i begins at starts[i].
type collection struct {
	uuid   bson.Binary
	starts []int64
	owners []*Shard
}

func newCatalog(shards []*Shard) *catalog {
	return &catalog{
		shards: shards, databases: map[string]bool{}, collections: map[string]*collection{},
	}
}

// spread shards a collection; one that is stays as it is.
func (c *catalog) spread(database, full string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.databases[database] = true
	if c.collections[full] != nil {
		return
	}
	id := bson.NewObjectID()
	made := &collection{uuid: bson.Binary{Subtype: 4, Data: append(id[:], 0, 0, 0, 0)}}
	chunks := chunksAShard * len(c.shards)
	width := math.MaxUint64 / uint64(chunks)
	for i := range chunks {
		made.starts = append(made.starts, int64(uint64(i)*width+1<<63))
		made.owners = append(made.owners, c.shards[i/chunksAShard])
	}
	c.collections[full] = made
}

func (c *catalog) forget(full string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.collections, full)
}

// owner is the shard of a document; that of all others if its collection is not sharded.
func (c *catalog) owner(full, id string) *Shard {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.collections[full]
	if of == nil {
		return c.shards[0]
	}
	return of.owners[of.chunkOf(id)]
}

func (c *collection) chunkOf(id string) int {
	hash, last := shardkey.Hash(id), 0
	for i, start := range c.starts {
		if start <= hash {
			last = i
		}
	}
	return last
}

// move gives the chunk of a document to another shard: from where, and what was in it.
func (c *catalog) move(full, id string, to *Shard) (from *Shard, moved func(id string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.collections[full]
	if of == nil {
		return nil, nil
	}
	chunk := of.chunkOf(id)
	from, of.owners[chunk] = of.owners[chunk], to
	return from, func(id string) bool { return of.chunkOf(id) == chunk }
}

// answer serves what is found in the config database: by equality of fields, or
// one of several such filters.
func (c *catalog) answer(asked call) bson.D {
	if asked.name != "find" {
		return failure(20, "IllegalOperation", "the stand-in's config database is only read")
	}
	filter, _ := asked.lookup("filter").(bson.D)
	found := bson.A{}
	for _, document := range c.documents(asked.collection) {
		if matches(document, filter) {
			found = append(found, document)
		}
	}
	return firstBatch(asked, found)
}

func (c *catalog) documents(name string) []bson.D {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := []bson.D{}
	switch name {
	case "shards":
		for _, shard := range c.shards {
			found = append(found, bson.D{
				{Key: "_id", Value: shard.ID}, {Key: "host", Value: shard.Host}, {Key: "state", Value: 1},
			})
		}
	case "databases":
		for database := range c.databases {
			found = append(found, bson.D{
				{Key: "_id", Value: database}, {Key: "primary", Value: c.shards[0].ID},
			})
		}
	case "collections":
		for full, of := range c.collections {
			found = append(found, bson.D{
				{Key: "_id", Value: full}, {Key: "uuid", Value: of.uuid},
				{Key: "key", Value: bson.D{{Key: "_id", Value: "hashed"}}},
			})
		}
	case "chunks":
		for _, of := range c.collections {
			found = append(found, of.chunks()...)
		}
	}
	return found
}

func (c *collection) chunks() []bson.D {
	found := []bson.D{}
	for i, start := range c.starts {
		bounds := []any{start, bson.MaxKey{}}
		if i == 0 {
			bounds[0] = bson.MinKey{}
		}
		if i+1 < len(c.starts) {
			bounds[1] = c.starts[i+1]
		}
		found = append(found, bson.D{
			{Key: "uuid", Value: c.uuid}, {Key: "shard", Value: c.owners[i].ID},
			{Key: "min", Value: bson.D{{Key: "_id", Value: bounds[0]}}},
			{Key: "max", Value: bson.D{{Key: "_id", Value: bounds[1]}}},
		})
	}
	return found
}

func matches(document, filter bson.D) bool {
	for _, wanted := range filter {
		if wanted.Key == "$or" {
			some := false
			either, _ := wanted.Value.(bson.A)
			for _, one := range either {
				part, _ := one.(bson.D)
				some = some || matches(document, part)
			}
			if !some {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(lookup(document, wanted.Key), wanted.Value) {
			return false
		}
	}
	return true
}

func firstBatch(asked call, found bson.A) bson.D {
	return bson.D{
		{Key: "cursor", Value: bson.D{
			{Key: "firstBatch", Value: found}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: asked.full()},
		}},
		{Key: "ok", Value: 1},
	}
}
