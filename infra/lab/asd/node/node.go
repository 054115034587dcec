// Package node is one server process: partitions, requests, migrations and what it tells of itself.
//
//	client ──▶ serve ──▶ request ─▶ read / write ─▶ partition ─▶ device
//	                        │            └▶ replicate ──▶ other nodes
//	                        └▶ proxy, where another node is the one to ask
//	heartbeats ─▶ clustering ─▶ rebalance ─▶ emigrate / immigrate
package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"brownout/infra/lab/asd/conf"
	"brownout/infra/lab/asd/device"
	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/logfile"
	"brownout/infra/lab/asd/member"
	"brownout/infra/lab/asd/meter"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

// Options is what the real server has no setting for.
type Options struct {
	Enterprise bool
	Version    string // of brownout
	// RecordPace and PartitionPace are how long migrations take: the real server's pace, which is
	// bound by disks and network, would be gone in a moment with the little data of a lab.
	RecordPace, PartitionPace time.Duration
}

// Node is a running server.
type Node struct {
	conf    conf.Config
	options Options
	self    nodeid.ID
	born    time.Time
	log     *logfile.Log
	device  *device.Device
	fresh   bool
	mesh    *fabric.Mesh
	dialing *fabric.Dialing
	counts  *meter.Counters
	reads   *meter.Latency
	writes  *meter.Latency
	batches *meter.Latency

	partitions [record.Partitions]*partition

	// clustering
	heard      chan fabric.Pulse
	orders     chan func() // run by the clustering loop
	mu         sync.Mutex  // guards what follows
	board      *member.Board
	cluster    *member.Cluster
	state      state
	truncation map[string]uint64 // by set: records up to then are forgotten

	factor      atomic.Int64 // replication factor that is asked for; in effect from the next cluster on
	sleep       atomic.Int64 // µs between two records of a migration
	threads     *crew        // that migrate
	maxIncoming atomic.Int64 // migrations that are taken at once
	forming     atomic.Bool  // a round of this node's is under way
	quiesced    atomic.Bool  // is to have no replicas
	migrating   atomic.Bool  // partitions may change hands
	key         atomic.Uint64
	generation  atomic.Int64 // of the partition map, as clients are told; -1 before there is one
	clients     atomic.Int64
	opened      atomic.Int64
	connections sync.Map // net.Conn of every client

	tasks      *taskQueue
	incoming   atomic.Int64
	moves      moves
	listeners  []net.Listener
	stopping   context.CancelFunc
	background sync.WaitGroup
}

// state is what a cluster change leaves behind, for info answers.
type state struct {
	peers        []peer
	alumni       map[nodeid.ID]peer // every peer there was, those of now too
	peersChanged int
	racks        map[nodeid.ID]int
	quiesced     map[nodeid.ID]bool
	pending      bool // quiesce was asked of this node
	replication  int
	size         int
	rebalanced   time.Time
	rebalances   int
	fresh        int
	prepared     uint64 // key of the proposal that was answered last
}

// peer is another member, as clients are told of it.
type peer struct {
	id      nodeid.ID
	service string
}

// Start opens the device, reads it and starts the server.
func Start(c conf.Config, o Options) (*Node, error) {
	log, err := logfile.Open(c.LogFile)
	if err != nil {
		return nil, err
	}
	n := &Node{
		conf: c, options: o, self: c.Node, born: time.Now(), log: log,
		counts: meter.NewCounters(),
		reads:  &meter.Latency{}, writes: &meter.Latency{}, batches: &meter.Latency{},
		heard: make(chan fabric.Pulse, 64), orders: make(chan func(), 16),
		truncation: map[string]uint64{}, tasks: newTaskQueue(),
	}
	n.generation.Store(-1)
	n.state.alumni = map[nodeid.ID]peer{}
	n.factor.Store(int64(c.Namespace.Replication))
	n.sleep.Store(c.Namespace.MigrateSleep.Microseconds())
	n.maxIncoming.Store(int64(c.MigrateMaxIncoming))
	n.board = member.NewBoard(n.self, c.Interval*time.Duration(c.Timeout))
	n.cluster = member.NewCluster(n.board)
	n.mesh = fabric.NewMesh(n.self, n.receive)
	n.banner()
	if err := n.openDevice(); err != nil {
		log.Fail("drv_ssd", "%v", err)
		return nil, err
	}
	if err := n.listen(); err != nil {
		log.Fail("socket", "%v", err)
		return nil, err
	}
	return n, n.writePid()
}

func (n *Node) banner() {
	n.log.Info("as", "<><><><><>  %s %s: not Aerospike's product  <><><><><>", Edition(n.options), n.build())
	n.log.Info("namespace", "{%s} beginning cold start", n.conf.Namespace.Name)
}

func (n *Node) listen() error {
	ctx, cancel := context.WithCancel(context.Background())
	n.stopping = cancel
	serve := []struct {
		address string
		run     func(net.Listener)
	}{
		{n.conf.Heartbeat.Listen(), func(l net.Listener) { fabric.Listen(l, n.hear(ctx)) }},
		{n.conf.Fabric.Listen(), n.mesh.Serve},
		{n.conf.Service.Listen(), n.serve},
	}
	for _, s := range serve {
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			return err
		}
		n.listeners = append(n.listeners, listener)
	}
	n.dialing = fabric.NewDialing(ctx, n.conf.Heartbeat.Public(), n.conf.Interval, n.pulse)
	n.threads = newCrew(ctx, n.emigrate)
	for i, s := range serve {
		go s.run(n.listeners[i])
	}
	for _, seed := range n.conf.Seeds {
		n.dialing.Add(seed)
	}
	n.threads.resize(n.conf.MigrateThreads)
	go n.clustering(ctx)
	n.background.Go(func() { n.upkeep(ctx) })
	n.log.Info("as", "service ready: soon there will be cake!")
	return nil
}

func (n *Node) writePid() error {
	if n.conf.PidFile == "" {
		return nil
	}
	return os.WriteFile(n.conf.PidFile, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o644)
}

// Stop ends the server: quickly, telling no peer, as the real one does on SIGTERM. The device gets
// all that is noted and its header from memory.
func (n *Node) Stop() error {
	n.log.Info("as", "SIGTERM received, starting normal shutdown")
	n.stopping()
	for _, l := range n.listeners {
		l.Close()
	}
	n.background.Wait()
	n.connections.Range(func(conn, _ any) bool {
		conn.(net.Conn).Close()
		return true
	})
	err := n.device.Close()
	if n.conf.PidFile != "" {
		if rerr := os.Remove(n.conf.PidFile); err == nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = rerr
		}
	}
	n.log.Info("as", "finished clean shutdown - exiting")
	return err
}
