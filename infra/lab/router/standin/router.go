package standin

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// patience is how long a command without a limit of its own may take.
const patience = 30 * time.Second

// Router is the stand-in: it listens, and forwards to the primaries of its shards.
type Router struct {
	listener net.Listener
	shards   []*Shard
	catalog  *catalog
	open     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
}

// Shard is a replica set by its id in config.shards, "set/host:port,host:port".
type Shard struct {
	ID, Host string
	client   *mongo.Client
}

// NewShard returns a shard that is not connected yet.
func NewShard(id, host string) *Shard { return &Shard{ID: id, Host: host} }

func (s *Shard) connect() (err error) {
	set, hosts, found := strings.Cut(s.Host, "/")
	if !found {
		return fmt.Errorf("shard %s: found %q, wanted set/host:port,…", s.ID, s.Host)
	}
	s.client, err = mongo.Connect(options.Client().SetHosts(strings.Split(hosts, ",")).
		SetReplicaSet(set).SetRetryWrites(false).SetRetryReads(false).SetMaxPoolSize(400))
	return err
}

// Listen starts a router at address in front of these shards.
func Listen(address string, shards ...*Shard) (*Router, error) {
	for _, shard := range shards {
		if err := shard.connect(); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &Router{
		listener: listener, shards: shards, catalog: newCatalog(shards), conns: map[net.Conn]bool{},
	}
	r.open.Go(r.accept)
	return r, nil
}

// Address is where it listens.
func (r *Router) Address() string { return r.listener.Addr().String() }

// Close ends every connection.
func (r *Router) Close() {
	_ = r.listener.Close()
	r.mu.Lock()
	for conn := range r.conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	for _, shard := range r.shards {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = shard.client.Disconnect(ctx)
		cancel()
	}
	r.open.Wait()
}

func (r *Router) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.conns[conn] = true
		r.mu.Unlock()
		r.open.Go(func() { r.serve(conn) })
	}
}

func (r *Router) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	for {
		request, err := readRequest(conn)
		if err != nil {
			return
		}
		if err := request.answer(conn, r.do(request.command)); err != nil {
			return
		}
	}
}

// do answers one command.
func (r *Router) do(command bson.D) bson.D {
	if len(command) == 0 {
		return failure(9, "FailedToParse", "an empty command")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limitOf(command))
	defer cancel()
	c := newCall(command)
	switch c.name {
	case "hello", "isMaster", "ismaster":
		return greeting()
	case "ping", "endSessions", "killCursors", "enableSharding":
		return bson.D{{Key: "ok", Value: 1}}
	case "shardCollection":
		return r.shardCollection(ctx, c)
	case "moveChunk":
		return r.moveChunk(ctx, c)
	}
	if c.database == "config" {
		return r.catalog.answer(c)
	}
	switch c.name {
	case "find":
		return r.find(ctx, c)
	case "aggregate":
		return r.aggregate(ctx, c)
	case "insert", "update", "delete":
		return r.write(ctx, c)
	case "findAndModify":
		return r.forward(ctx, r.shardOf(c, idOf(c.lookup("query"))), c)
	case "drop", "dropDatabase":
		return r.drop(ctx, c)
	case "listCollections", "create", "buildInfo":
		return r.forward(ctx, r.shards[0], c)
	}
	return failure(59, "CommandNotFound", "the stand-in for a router has no command "+c.name)
}

func limitOf(command bson.D) time.Duration {
	if ms, ok := integer(lookup(command, "maxTimeMS")); ok && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return patience
}

func greeting() bson.D {
	return bson.D{
		{Key: "helloOk", Value: true}, {Key: "ismaster", Value: true},
		{Key: "isWritablePrimary", Value: true}, {Key: "msg", Value: "isdbgrid"},
		{Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48_000_000},
		{Key: "maxWriteBatchSize", Value: 100_000}, {Key: "localTime", Value: time.Now()},
		{Key: "logicalSessionTimeoutMinutes", Value: 30}, {Key: "connectionId", Value: 1},
		{Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 17},
		{Key: "readOnly", Value: false}, {Key: "ok", Value: 1},
	}
}

func failure(code int32, name, words string) bson.D {
	return bson.D{
		{Key: "ok", Value: 0}, {Key: "errmsg", Value: words},
		{Key: "code", Value: code}, {Key: "codeName", Value: name},
	}
}
