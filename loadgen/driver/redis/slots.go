package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// A lane is the shard that has the key's slot, by its first slots when the load began:
//
//	one key              "slots 0-5460": the failure domain is the master and its replicas
//	a batch over several "shards"
//	a slot without owner "unrouted"
//
// It stays the same when a replica is promoted, and when the client does not know of that.
const (
	laneUnrouted = "unrouted"
	laneShards   = "shards"
	slots        = 16384
)

// shard is one master and the slots that it has.
type shard struct {
	master string // its address
	lane   string
}

// parseSlots reads the answer to CLUSTER SLOTS: for each range its first and last slot and its nodes,
// the master first. It returns the shards, and which one has each slot.
func parseSlots(answer any) (shards []shard, owners [slots]*shard, err error) {
	type part struct {
		first, last int64
		master      string
	}
	unreadable := fmt.Errorf("the answer to CLUSTER SLOTS is not understood: %.100v", answer)
	ranges, is := answer.([]any)
	if !is {
		return nil, owners, unreadable
	}
	var parts []part
	for _, each := range ranges {
		fields, _ := each.([]any)
		if len(fields) < 3 {
			return nil, owners, unreadable
		}
		first, is1 := fields[0].(int64)
		last, is2 := fields[1].(int64)
		node, _ := fields[2].([]any)
		if !is1 || !is2 || len(node) < 2 || first < 0 || last >= slots || first > last {
			return nil, owners, unreadable
		}
		host, _ := node[0].(string)
		port, is := node[1].(int64)
		if host == "" || !is {
			return nil, owners, errors.New("a master of the cluster does not know its own address; have it met by another one")
		}
		parts = append(parts, part{first, last, net.JoinHostPort(host, strconv.FormatInt(port, 10))})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	known := map[string]*shard{}
	for _, p := range parts {
		of := known[p.master]
		if of == nil {
			of = &shard{p.master, fmt.Sprintf("slots %d-%d", p.first, p.last)}
			known[p.master] = of
			shards = append(shards, *of)
		}
		for slot := p.first; slot <= p.last; slot++ {
			owners[slot] = of
		}
	}
	return shards, owners, nil
}

// lookAtSlots asks whichever node answers.
func (c *control) lookAtSlots(ctx context.Context) ([]shard, [slots]*shard, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	answer, err := c.client.Do(ctx, c.client.B().ClusterSlots().Build()).ToAny()
	if err != nil {
		return nil, [slots]*shard{}, fmt.Errorf("asking for the slots: %w", err)
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
