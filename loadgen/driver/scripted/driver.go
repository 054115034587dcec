// Package scripted is the driver of the scripted server (see scriptserver):
// for tests of everything that measures. Its lanes are the server's nodes.
package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/scriptserver/wire"
)

func init() { driver.Register("scripted", func() driver.Driver { return new(Driver) }) }

// Driver speaks to one scripted server.
type Driver struct {
	options   options
	namespace string
	writer    string
	lanes     []*lane
}

var _ driver.Driver = (*Driver)(nil)

// lane is one node of the server, with its connections.
type lane struct {
	name  string
	links []*link
	turn  atomic.Uint64
}

// link chooses a connection: each in turn.
func (l *lane) link() *link {
	return l.links[l.turn.Add(1)%uint64(len(l.links))]
}

// options are the driver's own settings.
type options struct {
	Connections  int     `json:"connections"` // per lane
	Pool         int     `json:"pool"`        // operations in flight per lane
	SettleS      float64 `json:"settle_s"`    // how long a write in doubt may still take effect
	DialTimeoutS float64 `json:"dial_timeout_s"`
}

func readOptions(given map[string]any) (options, error) {
	defaults := options{Connections: 2, Pool: 64, SettleS: 1, DialTimeoutS: 1}
	return driver.ReadOptions("scripted", given, defaults, func(o options) error {
		if o.Connections < 1 || o.Pool < 1 || o.SettleS < 0 || o.DialTimeoutS <= 0 {
			return fmt.Errorf("the options are out of range: %+v", o)
		}
		return nil
	})
}

// Open asks the server at config.URI (scripted://HOST:PORT) for its lanes.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	var err error
	if d.options, err = readOptions(config.Options); err != nil {
		return err
	}
	d.namespace, d.writer = config.Namespace, config.Writer
	address := strings.TrimPrefix(config.URI, "scripted://")
	first := d.newLink(address)
	defer first.close()
	answer, err := first.ask(ctx, &wire.Request{Verb: wire.Hello, Key: d.namespace})
	if err != nil {
		return fmt.Errorf("cannot reach the scripted server at %s: %w", address, err)
	}
	var nodes []struct{ Name, Address string }
	if err := json.Unmarshal(answer.value, &nodes); err != nil || len(nodes) == 0 {
		return fmt.Errorf("what answers at %s is not a scripted server", address)
	}
	for _, node := range nodes {
		l := &lane{name: node.Name}
		for range d.options.Connections {
			l.links = append(l.links, d.newLink(node.Address))
		}
		d.lanes = append(d.lanes, l)
	}
	return nil
}

// Settings are the options and the lanes.
func (d *Driver) Settings() map[string]any {
	return map[string]any{
		"connections": d.options.Connections, "pool": d.options.Pool,
		"settle_s": d.options.SettleS, "dial_timeout_s": d.options.DialTimeoutS,
		"lanes": len(d.lanes), "retries": "none",
	}
}

// Lane is the node that the key belongs to.
func (d *Driver) Lane(op *driver.Op) string { return d.lane(op.ID).name }

func (d *Driver) lane(id string) *lane {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(id) {
		hash = (hash ^ uint32(id[i])) * 16777619
	}
	return d.lanes[hash%uint32(len(d.lanes))]
}

// LaneCap is the option `pool`.
func (d *Driver) LaneCap() int { return d.options.Pool }

// InDoubtFor is the option `settle_s`.
func (d *Driver) InDoubtFor() time.Duration { return inSeconds(d.options.SettleS) }

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Started starts the script.
func (d *Driver) Started(t0 time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := wire.Request{Verb: wire.Go, Number: int64(time.Since(t0))}
	_, _ = d.lanes[0].link().ask(ctx, &begin) // a script that does not start shows at once
}

// Close ends all connections.
func (d *Driver) Close() {
	for _, l := range d.lanes {
		for _, link := range l.links {
			link.close()
		}
	}
}

var errRefused = errors.New("the scripted server refused")
