// Package balance says who has what of each partition and who is to have it. It is pure: every node
// computes the same from the same exchange, and so they agree without asking each other again.
package balance

import (
	"encoding/binary"
	"fmt"
)

// unrelated is the family of a copy that shares its content with no other one.
const unrelated uint8 = 15

// Version says what a node has of a partition. Copies of one key and family that are not a subset hold
// the same records; a subset holds some of them.
type Version struct {
	Key    uint64 // of the cluster in which it came to be; 0 means no copy at all
	Family uint8
	Master bool // was the working master
	Subset bool
	Evade  bool // never was whole: the last choice for a master
}

// HasData tells whether there is a copy.
func (v Version) HasData() bool { return v.Key != 0 }

// related tells whether two copies come from the same one.
func (v Version) related(o Version) bool {
	return v.Key == o.Key && v.Family == o.Family && v.Family != unrelated
}

// whole tells whether v is a copy of everything that the whole copy o has.
func (v Version) whole(o Version) bool { return v.HasData() && !v.Subset && v.related(o) }

// String writes a version as `partition-info` does: key, family, and m, s, e for the flags.
func (v Version) String() string {
	flag := func(set bool, letter string) string {
		if set {
			return letter
		}
		return "-"
	}
	return fmt.Sprintf("%012x.%x.%sp%s%s", v.Key, v.Family,
		flag(v.Master, "m"), flag(v.Subset, "s"), flag(v.Evade, "e"))
}

// Restarted returns what a copy is worth when its node starts: the last writes may be missing, so it
// is a part of what it was and no master's.
func (v Version) Restarted() Version {
	if v.HasData() {
		v.Master, v.Subset = false, true
	}
	return v
}

// Pack writes the version in 16 bytes, for the device and for the exchange.
func (v Version) Pack() [16]byte {
	var packed [16]byte
	binary.BigEndian.PutUint64(packed[:], v.Key)
	packed[8] = v.Family
	for i, set := range []bool{v.Master, v.Subset, v.Evade} {
		if set {
			packed[9+i] = 1
		}
	}
	return packed
}

// Unpack reads what Pack wrote.
func Unpack(packed [16]byte) Version {
	return Version{
		Key:    binary.BigEndian.Uint64(packed[:]),
		Family: packed[8],
		Master: packed[9] == 1, Subset: packed[10] == 1, Evade: packed[11] == 1,
	}
}
