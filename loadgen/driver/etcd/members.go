package etcd

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/connectivity"

	"brownout/loadgen/driver"
)

// A lane is the member that is asked: what the client's own balancer would take next.
//
//	the next member with a connection    its address
//	none has one                         "unrouted"
//	the client retries by itself         "members": it picks one that it does not tell
//
// All writes and linearizable reads also need the leader and a quorum, which no lane has for itself.
const (
	laneUnrouted = "unrouted"
	laneMembers  = "members"
)

// member is one server and the client that asks only this one.
type member struct {
	address string
	client  atomic.Pointer[clientv3.Client] // nil until it could log in
	ready   atomic.Bool                     // it has a connection
	said    atomic.Pointer[error]           // the latest error
}

func (m *member) failed(err error) { m.said.Store(&err) }

func (m *member) problem() error {
	if said := m.said.Load(); said != nil {
		return *said
	}
	return nil
}

// loginPause is how long a member that could not be logged in to is left alone.
const loginPause = time.Second

// connect logs in, if need be again and again, and then follows the state of the
// connection, which the client opens again by itself. It returns when ctx ends.
func (m *member) connect(ctx context.Context, settings clientv3.Config) {
	client, err := clientv3.New(settings)
	for err != nil {
		m.failed(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(loginPause):
		}
		client, err = clientv3.New(settings)
	}
	defer client.Close()
	m.client.Store(client)
	connection := client.ActiveConnection()
	connection.Connect()
	for state := connection.GetState(); ; state = connection.GetState() {
		m.ready.Store(state == connectivity.Ready)
		if !connection.WaitForStateChange(ctx, state) {
			return
		}
	}
}

// next takes the members with a connection in turn, as the client's own balancer
// ("round_robin" of gRPC) does; without one, those that there are. connected tells which.
func (d *Driver) next() (m *member, connected bool) {
	turn := d.turn.Add(1)
	for i := range uint64(len(d.members)) {
		if m := d.members[(turn+i)%uint64(len(d.members))]; m.ready.Load() {
			return m, true
		}
	}
	return d.members[turn%uint64(len(d.members))], false
}

// Lane names the member that Do then asks.
func (d *Driver) Lane(op *driver.Op) string {
	if d.config.Streams[op.Stream].RetriesItself() {
		return laneMembers
	}
	m, connected := d.next()
	if !connected {
		return laneUnrouted
	}
	op.Prepared = m
	return m.address
}

// serverFor is whom an operation asks; nil if every login failed.
func (d *Driver) serverFor(op *driver.Op) clientv3.KV {
	if d.config.Streams[op.Stream].RetriesItself() {
		return d.whole
	}
	m, prepared := op.Prepared.(*member)
	if op.Prepared = nil; !prepared { // no server was connected, or a second attempt
		m, _ = d.next()
	}
	if client := m.client.Load(); client != nil {
		return client
	}
	return nil
}

// problems says of each member why it could not be used.
func (d *Driver) problems() string {
	states := make([]string, len(d.members))
	for i, m := range d.members {
		states[i] = m.address + " does not answer"
		if err := m.problem(); err != nil {
			states[i] = fmt.Sprintf("%s: %v", m.address, err)
		}
	}
	return strings.Join(states, ", ")
}
