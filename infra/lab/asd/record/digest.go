// Package record holds what is stored: a record, its address, its flat form on disk and between
// nodes, and which of two versions of it wins.
package record

// Partitions is how many parts a namespace is cut into, always.
const Partitions = 4096

// Digest is the address of a record: the client's RIPEMD-160 of its set and key.
type Digest [20]byte

// Partition returns which partition the record belongs to: the low twelve bits, little endian.
func (d Digest) Partition() int { return (int(d[0]) | int(d[1])<<8) & (Partitions - 1) }
