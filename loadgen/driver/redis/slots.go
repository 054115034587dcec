package redis

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// A lane is the shard that has the key's slot, by its first slots when the load began:
//
//	one key              "slots 0-5460": the failure domain is the master and its replicas
//	under Sentinel       "master": all keys have the same one
//	a batch over several "shards"
//	a slot without owner "unrouted"
//
// It stays the same when a replica is promoted, and when the client does not know of that.
const (
	laneUnrouted = "unrouted"
	laneShards   = "shards"
	laneMaster   = "master"
	slots        = 16384
)

// shard is one master and the slots that it has.
type shard struct {
	master string // its address
	lane   string
}

// topology is which servers have which slots.
type topology struct {
	shards []shard
	owners [slots]*shard
	ranges []slotRange
}

// slotRange is consecutive slots and the addresses of the servers that have them, the master first.
// The address of a replica that does not know its own is empty.
type slotRange struct {
	first, last int64
	servers     []string
}

// holder is a server with the slots of which it has copies; a replica's are its master's.
type holder struct {
	address string
	has     *[slots]bool
}

// holders returns every server of every range.
func (t *topology) holders() (holders []holder, err error) {
	known := map[string]*[slots]bool{}
	for _, r := range t.ranges {
		for _, address := range r.servers {
			if address == "" {
				return nil, unaddressed("replica")
			}
			has := known[address]
			if has == nil {
				has = &[slots]bool{}
				known[address] = has
				holders = append(holders, holder{address, has})
			}
			for slot := r.first; slot <= r.last; slot++ {
				has[slot] = true
			}
		}
	}
	return holders, nil
}

func unaddressed(role string) error {
	return fmt.Errorf("a %s of the cluster does not know its own address; have it met by another node", role)
}

// parseSlots reads the answer to CLUSTER SLOTS: for each range its first and last slot and its nodes,
// the master first.
func parseSlots(answer any) (*topology, error) {
	unreadable := fmt.Errorf("the answer to CLUSTER SLOTS is not understood: %.100v", answer)
	ranges, is := answer.([]any)
	if !is {
		return nil, unreadable
	}
	t := &topology{}
	for _, each := range ranges {
		fields, _ := each.([]any)
		if len(fields) < 3 {
			return nil, unreadable
		}
		first, is1 := fields[0].(int64)
		last, is2 := fields[1].(int64)
		if !is1 || !is2 || first < 0 || last >= slots || first > last {
			return nil, unreadable
		}
		r := slotRange{first: first, last: last}
		for _, node := range fields[2:] {
			r.servers = append(r.servers, addressOf(node))
		}
		if r.servers[0] == "" {
			return nil, unaddressed("master")
		}
		t.ranges = append(t.ranges, r)
	}
	slices.SortFunc(t.ranges, func(a, b slotRange) int { return cmp.Compare(a.first, b.first) })
	known := map[string]*shard{}
	for _, r := range t.ranges {
		master := r.servers[0]
		of := known[master]
		if of == nil {
			of = &shard{master, fmt.Sprintf("slots %d-%d", r.first, r.last)}
			known[master] = of
			t.shards = append(t.shards, *of)
		}
		for slot := r.first; slot <= r.last; slot++ {
			t.owners[slot] = of
		}
	}
	return t, nil
}

// addressOf reads a node of a range, `[host, port, id, …]`; empty where it has no address.
func addressOf(node any) string {
	fields, _ := node.([]any)
	if len(fields) < 2 {
		return ""
	}
	host, _ := fields[0].(string)
	port, is := fields[1].(int64)
	if host == "" || !is {
		return ""
	}
	return net.JoinHostPort(host, strconv.FormatInt(port, 10))
}

// lookAtSlots asks whichever node answers, or under Sentinel the master, which has all slots.
func (c *control) lookAtSlots(ctx context.Context) (*topology, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	if c.config.Sentinel != nil {
		return c.lookAtMaster(ctx)
	}
	answer, err := c.client.Do(ctx, c.client.B().ClusterSlots().Build()).ToAny()
	if err != nil {
		return nil, fmt.Errorf("asking for the slots: %w", err)
	}
	return parseSlots(answer)
}

// slotOf is where a key lies: its CRC-16 (XMODEM), or that of what is in its first braces.
//
// Source: the Redis Cluster specification, "Key distribution model" and "Hash tags".
func slotOf(key string) int {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if end := strings.IndexByte(key[open+1:], '}'); end > 0 {
			key = key[open+1 : open+1+end]
		}
	}
	sum := uint16(0)
	for i := range len(key) {
		sum = sum<<8 ^ crc16[byte(sum>>8)^key[i]]
	}
	return int(sum % slots)
}

var crc16 = func() (table [256]uint16) {
	for i := range table {
		sum := uint16(i) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
		table[i] = sum
	}
	return table
}()

// laneOf is that of one key.
func (d *Driver) laneOf(key string) string {
	if of := d.owners[slotOf(key)]; of != nil {
		return of.lane
	}
	return laneUnrouted
}
