// Package member decides which nodes make the cluster. Nothing in it waits or sends: it is told what
// was heard and what time it is, and tells what is to be done.
package member

import (
	"slices"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
)

// dialled is for how many time-outs a node that is not heard any more is dialled, as by the real
// server: for so long it is taken back, a seed or not.
const dialled = 10

// Board is whom a node hears, and when it last did.
type Board struct {
	self    nodeid.ID
	timeout time.Duration
	heard   map[nodeid.ID]heard
	lost    map[nodeid.ID]heard
}

type heard struct {
	pulse fabric.Pulse
	at    time.Time
}

// NewBoard returns a board on which no node is heard yet.
func NewBoard(self nodeid.ID, timeout time.Duration) *Board {
	return &Board{self: self, timeout: timeout, heard: map[nodeid.ID]heard{}, lost: map[nodeid.ID]heard{}}
}

// Hear takes a heartbeat in and tells whether its sender is new.
func (b *Board) Hear(p fabric.Pulse, now time.Time) (arrived bool) {
	_, known := b.heard[p.From]
	b.heard[p.From] = heard{p, now}
	delete(b.lost, p.From)
	return !known
}

// Expire removes and returns those who were not heard for too long.
func (b *Board) Expire(now time.Time) []nodeid.ID {
	var gone []nodeid.ID
	for id, h := range b.heard {
		if now.Sub(h.at) > b.timeout {
			gone = append(gone, id)
			b.lost[id] = h
			delete(b.heard, id)
		}
	}
	return nodeid.Descending(gone)
}

// Sees returns whom the node hears, the highest first.
func (b *Board) Sees() []nodeid.ID {
	var ids []nodeid.ID
	for id := range b.heard {
		ids = append(ids, id)
	}
	return nodeid.Descending(ids)
}

// Heard returns where those whom the node hears take heartbeats.
func (b *Board) Heard() []string {
	var addresses []string
	for _, h := range b.heard {
		addresses = append(addresses, h.pulse.Heartbeat)
	}
	return addresses
}

// Forget removes and returns those who were lost for so long that they are not dialled any more.
func (b *Board) Forget(now time.Time) []nodeid.ID {
	var forgotten []nodeid.ID
	for id, h := range b.lost {
		if now.Sub(h.at) > dialled*b.timeout {
			forgotten = append(forgotten, id)
			delete(b.lost, id)
		}
	}
	return forgotten
}

// Contacts returns the heartbeat addresses of all that the node hears, and of all that those hear:
// so a node that knows one member gets to know all. Those that were lost stay until Forget.
func (b *Board) Contacts() []string {
	addresses := b.Heard()
	for _, h := range b.lost {
		addresses = append(addresses, h.pulse.Heartbeat)
	}
	for _, h := range b.heard {
		addresses = append(addresses, h.pulse.Contacts...)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// Leader returns who is to be the principal: the highest of all that can be heard, oneself too.
func (b *Board) Leader() nodeid.ID {
	leader := b.self
	for id := range b.heard {
		leader = max(leader, id)
	}
	return leader
}

// Mutual returns oneself and all those who hear this node as it hears them, the highest first.
func (b *Board) Mutual() []nodeid.ID {
	ids := []nodeid.ID{b.self}
	for id, h := range b.heard {
		if slices.Contains(h.pulse.Sees, b.self) {
			ids = append(ids, id)
		}
	}
	return nodeid.Descending(ids)
}

// Astray returns whether one of members believes to be in another cluster than key's.
func (b *Board) Astray(members []nodeid.ID, key uint64) bool {
	return slices.ContainsFunc(members, func(id nodeid.ID) bool {
		h, known := b.heard[id]
		return known && h.pulse.Key != key
	})
}
