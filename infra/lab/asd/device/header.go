// Package device is one node's storage file: a header of 8 MiB and, behind it, a slot a record.
//
//	0 … 8 MiB    header: who wrote it, its epoch, and what the node has of each partition
//	8 MiB … end  slots of n × 128 bytes, one after the other, each with the epoch it belongs to
//
// A file whose header reads as zeros is fresh: whatever slots are behind it are of no epoch and
// therefore gone. A wipe of 8 MiB thus empties a node, as it does with the real server.
package device

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

const (
	// HeaderSize is what a wipe must destroy.
	HeaderSize = 8 << 20

	headerMagic   = "brownout stand-in device\x00"
	epochAt       = 64
	partitionsAt  = 4096
	partitionSize = 16
)

// ErrNotErased is a file that we did not write and that was not wiped.
var ErrNotErased = errors.New("not a stand-in device but not erased - check config or erase device")

// Partition is what a node remembers of one partition, in a form of its own.
type Partition [partitionSize]byte

// header is the part of the file that says what all the rest is worth.
type header struct {
	epoch      uint64
	partitions []Partition
}

// readHeader returns the header and whether the file is fresh.
func readHeader(file io.ReaderAt, partitions int) (*header, bool, error) {
	h := &header{partitions: make([]Partition, partitions)}
	raw := make([]byte, HeaderSize)
	if _, err := file.ReadAt(raw, 0); err != nil {
		return nil, false, fmt.Errorf("reading the header: %w", err)
	}
	if !bytes.HasPrefix(raw, []byte(headerMagic)) {
		if len(bytes.TrimLeft(raw, "\x00")) != 0 {
			return nil, false, ErrNotErased
		}
		h.epoch = rand.Uint64() | 1
		return h, true, nil
	}
	h.epoch = binary.BigEndian.Uint64(raw[epochAt:])
	for i := range h.partitions {
		copy(h.partitions[i][:], raw[partitionsAt+i*partitionSize:])
	}
	return h, false, nil
}

// write puts the whole header from memory into the file. What is behind the partitions stays zero.
func (h *header) write(file *os.File) error {
	raw := make([]byte, partitionsAt, partitionsAt+len(h.partitions)*partitionSize)
	copy(raw, headerMagic)
	binary.BigEndian.PutUint64(raw[epochAt:], h.epoch)
	_, err := file.WriteAt(append(raw, h.table()...), 0)
	return err
}

// table returns all partitions as they are in the file.
func (h *header) table() []byte {
	table := make([]byte, 0, len(h.partitions)*partitionSize)
	for _, p := range h.partitions {
		table = append(table, p[:]...)
	}
	return table
}

// writePartitions puts all partitions into the file, and nothing else of the header.
func (h *header) writePartitions(file *os.File) error {
	_, err := file.WriteAt(h.table(), partitionsAt)
	return err
}

// writePartition puts one partition into the file, and nothing else of the header.
func (h *header) writePartition(file *os.File, i int) error {
	_, err := file.WriteAt(h.partitions[i][:], int64(partitionsAt+i*partitionSize))
	return err
}
