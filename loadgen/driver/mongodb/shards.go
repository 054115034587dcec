package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver/mongodb/shardkey"
)

const (
	// shardsEvery is how often the routers' map of chunks is read again.
	shardsEvery = time.Second
	// shardsPatience bounds one reading; what is known stays while it fails.
	shardsPatience = 5 * time.Second
)

// shards is what the driver knows of a sharded cluster behind its routers: which
// shard has a key, by config.chunks as the routers tell it, and who is that
// shard's primary, by a monitor of its own for each shard.
type shards struct {
	driver  *Driver
	client  *mongo.Client // for reading the routers' map, apart from the load's
	current atomic.Pointer[placement]

	mu      sync.Mutex // of members
	members map[string]*client
	finish  context.CancelFunc
	done    chan struct{}
}

// watchShards reads the map and keeps it fresh until it is closed.
func watchShards(ctx context.Context, d *Driver) (*shards, error) {
	o, err := clientOptions(d.config, d.policy, true)
	if err != nil {
		return nil, err
	}
	// The map must be read from the servers that keep it.
	connected, err := mongo.Connect(o.SetMinPoolSize(0).SetMaxPoolSize(1).SetReadPreference(readpref.Primary()))
	if err != nil {
		return nil, err
	}
	s := &shards{driver: d, client: connected, members: map[string]*client{}, done: make(chan struct{})}
	s.current.Store(&placement{})
	if err := s.refresh(ctx); err != nil {
		closeClient(connected)
		return nil, fmt.Errorf("reading which shard has which chunk: %w", err)
	}
	following, finish := context.WithCancel(context.Background())
	s.finish = finish
	go s.follow(following)
	return s, nil
}

func (s *shards) follow(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(shardsEvery):
			_ = s.refresh(ctx) // what is known stays
		}
	}
}

func (s *shards) close() {
	s.finish()
	<-s.done
	closeClient(s.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, member := range s.members {
		closeClient(member.Client)
	}
}

// count is how many shards there are.
func (s *shards) count() int { return len(s.current.Load().views) }

// refresh reads the map anew.
func (s *shards) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shardsPatience)
	defer cancel()
	config := s.client.Database("config")
	next := &placement{
		collections: map[string]*shardkey.Chunks{}, views: map[string]*watcher{}, hosts: map[string][]string{},
	}
	var found []struct {
		ID   string `bson:"_id"`
		Host string `bson:"host"`
	}
	if err := all(ctx, config.Collection("shards"), bson.D{}, &found); err != nil {
		return err
	}
	for _, shard := range found {
		member, err := s.member(shard.ID, shard.Host)
		if err != nil {
			return err
		}
		next.views[shard.ID] = member.watcher
		_, hosts, _ := strings.Cut(shard.Host, "/") // member has seen that it is so
		next.hosts[shard.ID] = strings.Split(hosts, ",")
	}
	var databases []struct {
		Primary string `bson:"primary"`
	}
	if err := all(ctx, config.Collection("databases"), byID(s.driver.config.Namespace), &databases); err != nil {
		return err
	}
	if len(databases) > 0 {
		next.primary = databases[0].Primary
	}
	for _, name := range []string{collectionData, collectionLedger} {
		chunks, err := s.chunksOf(ctx, config, name)
		if err != nil && !errors.Is(err, shardkey.ErrOtherKey) {
			return err
		}
		if chunks != nil {
			next.collections[name] = chunks
		}
	}
	s.current.Store(next)
	return nil
}

// chunksOf reads the chunks of one collection; nil if it is not sharded.
func (s *shards) chunksOf(ctx context.Context, config *mongo.Database, name string) (*shardkey.Chunks, error) {
	full := s.driver.config.Namespace + "." + name
	var collections []struct {
		UUID bson.RawValue `bson:"uuid"`
		Key  bson.D        `bson:"key"`
	}
	if err := all(ctx, config.Collection("collections"), byID(full), &collections); err != nil {
		return nil, err
	}
	if len(collections) == 0 {
		return nil, nil
	}
	// By the collection's UUID from 5.0 on, by its name before.
	filter := bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "uuid", Value: collections[0].UUID}}, bson.D{{Key: "ns", Value: full}},
	}}}
	var found []struct {
		Min   bson.Raw `bson:"min"`
		Shard string   `bson:"shard"`
	}
	if err := all(ctx, config.Collection("chunks"), filter, &found); err != nil {
		return nil, err
	}
	var chunks []shardkey.Chunk
	for _, chunk := range found {
		if len(collections[0].Key) != 1 {
			return nil, shardkey.ErrOtherKey
		}
		low, err := shardkey.BoundOf(chunk.Min)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, shardkey.Chunk{Min: low, Shard: chunk.Shard})
	}
	return shardkey.NewChunks(collections[0].Key, chunks)
}

func all(ctx context.Context, records *mongo.Collection, filter bson.D, into any) error {
	cursor, err := records.Find(ctx, filter)
	if err != nil {
		return fmt.Errorf("config.%s: %w", records.Name(), err)
	}
	if err := cursor.All(ctx, into); err != nil {
		return fmt.Errorf("config.%s: %w", records.Name(), err)
	}
	return nil
}

// member returns the monitor of one shard, whose host is "set/host:port,…".
func (s *shards) member(id, host string) (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.members[id]; known != nil {
		return known, nil // its monitor follows the set's own changes
	}
	set, hosts, found := strings.Cut(host, "/")
	if !found {
		return nil, fmt.Errorf("shard %s is at %q, wanted set/host:port,…", id, host)
	}
	o, err := clientOptions(s.driver.config, s.driver.policy, false)
	if err != nil {
		return nil, err
	}
	watcher := newWatcher()
	o.SetHosts(strings.Split(hosts, ",")).SetReplicaSet(set).SetMinPoolSize(0)
	connected, err := mongo.Connect(o.SetServerMonitor(watcher.monitor()))
	if err != nil {
		return nil, err
	}
	s.members[id] = &client{Client: connected, watcher: watcher}
	return s.members[id], nil
}
