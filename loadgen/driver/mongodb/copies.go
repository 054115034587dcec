package mongodb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// Copies returns every member of the set, or of each shard's set, but arbiters, those that copy with
// a delay on purpose, and hidden ones, which no member's `hello` names.
func (d *Driver) Copies(ctx context.Context) (copies []driver.Copy, err error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	sets := map[string][]string{"": d.hosts} // by shard
	if d.shards != nil {
		sets = d.shards.current.Load().hosts
	}
	for _, shard := range slices.Sorted(maps.Keys(sets)) {
		members, err := d.membersOf(ctx, sets[shard])
		if err != nil {
			return copies, redacted(err, d.config)
		}
		for _, address := range members {
			one, err := d.memberAlone(ctx, shard, address)
			if err != nil {
				return copies, redacted(fmt.Errorf("%s: %w", address, err), d.config)
			}
			if one != nil {
				copies = append(copies, one)
			}
		}
	}
	return copies, nil
}

// hello is what a member says of itself and of its set.
type hello struct {
	Hosts    []string `bson:"hosts"`
	Passives []string `bson:"passives"`
	Delay    int64    `bson:"secondaryDelaySecs"`
}

// membersOf asks the first of hosts that answers for the members that have data.
func (d *Driver) membersOf(ctx context.Context, hosts []string) (members []string, err error) {
	for _, address := range hosts {
		var one *memberCopy
		if one, err = d.connectAlone("", address); err != nil {
			continue
		}
		var said hello
		said, err = one.hello(ctx)
		one.Close()
		if err == nil {
			return append(said.Hosts, said.Passives...), nil
		}
	}
	return nil, err
}

// memberAlone connects to one member; nil if it copies with a delay.
func (d *Driver) memberAlone(ctx context.Context, shard, address string) (*memberCopy, error) {
	one, err := d.connectAlone(shard, address)
	if err != nil {
		return nil, err
	}
	said, err := one.hello(ctx)
	if err != nil || said.Delay > 0 {
		one.Close()
		return nil, err
	}
	return one, nil
}

func (d *Driver) connectAlone(shard, address string) (*memberCopy, error) {
	o, err := clientOptions(d.config, d.policy, true)
	if err != nil {
		return nil, err
	}
	o.ReplicaSet = nil
	o.SetHosts([]string{address}).
		SetDirect(true).
		SetMinPoolSize(0).
		SetTimeout(controlTimeout).
		SetReadConcern(readconcern.Local()).
		SetReadPreference(readpref.Nearest())
	connected, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return &memberCopy{d, shard, address, connected}, nil
}

// memberCopy is what one member of the set of a shard has.
type memberCopy struct {
	d       *Driver
	shard   string
	address string
	client  *mongo.Client
}

func (m *memberCopy) Server() string { return m.address }
func (m *memberCopy) Close()         { closeClient(m.client) }

func (m *memberCopy) hello(ctx context.Context) (said hello, err error) {
	err = m.client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&said)
	return said, err
}

func (m *memberCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	if m.d.shards != nil { // another shard may have what a move has left behind
		now := m.d.shards.current.Load()
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return now.shardOf(id, verified) != m.shard })
	}
	records := m.client.Database(m.d.config.Namespace).Collection(collectionOf(verified))
	for batch := range slices.Chunk(ids, readBackBatch) {
		if err := readBatch(ctx, records, batch, counter, each); err != nil {
			return redacted(err, m.d.config)
		}
	}
	return nil
}
