package aerospike

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
)

const (
	controlTimeout  = 30 * time.Second
	controlAttempt  = 2 * time.Second
	controlPause    = 100 * time.Millisecond
	controlAttempts = 30
	// emptying bounds how long nodes may take to drop a set that was emptied.
	emptying = 30 * time.Second
)

// control is a client for everything but the load: patient, and persistent. It is
// there only while it is needed, so that it does not disturb the load.
type control struct {
	*client.Client
	sets  sets
	where string
	read  *client.BasePolicy
	write *client.WritePolicy
	batch *client.BatchPolicy
}

func (d *Driver) control(ctx context.Context) (*control, error) {
	connected, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	base := *client.NewPolicy()
	base.ReadModeAP, base.ReplicaPolicy = client.ReadModeAPAll, client.MASTER
	base.TotalTimeout, base.SocketTimeout = controlTimeout, controlAttempt
	base.MaxRetries, base.SleepBetweenRetries = controlAttempts, controlPause
	c := &control{
		Client: connected, sets: d.sets, where: d.where(),
		read: &base, write: client.NewWritePolicy(0, client.TTLDontExpire), batch: client.NewBatchPolicy(),
	}
	c.write.BasePolicy, c.batch.BasePolicy = base, base
	c.write.RecordExistsAction = client.REPLACE
	return c, nil
}

func (d *Driver) controlled(ctx context.Context, do func(*control) error) error {
	c, err := d.control(ctx)
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

// key is the key of a record of ours.
func (c *control) key(set, id string) *client.Key {
	key, _ := client.NewKey(c.sets.namespace, set, id) // a text always is a key
	return key
}

// counts are the records of each of our sets, all copies, as the nodes count them.
func (c *control) counts() (map[string]int, error) {
	counts := map[string]int{}
	for _, node := range c.GetNodes() {
		command := "sets/" + c.sets.namespace
		answers, err := node.RequestInfo(&client.InfoPolicy{Timeout: controlAttempt}, command)
		if err != nil {
			return nil, fmt.Errorf("counting the records of node %s: %w", node.GetHost(), plain(err))
		}
		for _, line := range strings.Split(answers[command], ";") {
			if set, n := countOf(line); n > 0 && slices.Contains(c.sets.all(), set) {
				counts[set] += n
			}
		}
	}
	return counts, nil
}

// countOf reads `ns=test:set=brownout-data:objects=20:…`.
func countOf(line string) (set string, objects int) {
	for _, pair := range strings.Split(line, ":") {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "set":
			set = value
		case "objects":
			objects, _ = strconv.Atoi(value)
		}
	}
	return set, objects
}

// empty removes every record of a set and waits until no node has any.
func (c *control) empty(ctx context.Context, set string) error {
	if err := c.Truncate(&client.InfoPolicy{Timeout: controlAttempt}, c.sets.namespace, set, nil); err != nil {
		return fmt.Errorf("emptying the set %s.%s: %w", c.sets.namespace, set, plain(err))
	}
	for started := time.Now(); ; time.Sleep(controlPause) {
		counts, err := c.counts()
		if err == nil && counts[set] == 0 {
			return nil
		}
		if ctx.Err() != nil || time.Since(started) > emptying {
			return errors.Join(err, fmt.Errorf("the set %s.%s still has %d records %v after it was emptied (wanted none)",
				c.sets.namespace, set, counts[set], time.Since(started).Round(time.Second)))
		}
	}
}
