package driver

import (
	"encoding/binary"
	"hash/crc32"
)

// Record is stored beside a value: who wrote it, as which write of its key,
// and a checksum over all of that.
type Record struct {
	Writer   string
	Seq      uint64
	Checksum uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NewRecord returns the record of a write.
func NewRecord(writer, id string, seq uint64, value []byte) Record {
	return Record{Writer: writer, Seq: seq, Checksum: Checksum(writer, id, seq, value)}
}

// Valid tells whether the record and value found under id belong together.
func (r Record) Valid(id string, value []byte) bool {
	return r.Checksum == Checksum(r.Writer, id, r.Seq, value)
}

// Checksum is the CRC-32C of writer, id, seq (8 bytes, big-endian) and value,
// with a zero byte after each of the two texts.
func Checksum(writer, id string, seq uint64, value []byte) uint32 {
	var head [96]byte
	buffer := append(head[:0], writer...)
	buffer = append(buffer, 0)
	buffer = append(buffer, id...)
	buffer = append(buffer, 0)
	buffer = binary.BigEndian.AppendUint64(buffer, seq)
	return crc32.Update(crc32.Checksum(buffer, castagnoli), castagnoli, value)
}

// Found is what is stored under a key, taken apart.
type Found struct {
	Record  *Record // nil for a counter, or if it is not one of ours
	Count   int64
	Counter bool
	Valid   bool // the checksum fits
}

// Intact tells whether it is a whole register or a plain counter.
func (f Found) Intact() bool { return f.Valid || (f.Record == nil && f.Counter) }

// ReadBack is what it says of its key. What is not of the wanted shape counts as a record whose
// checksum is wrong.
func (f Found) ReadBack(id string, counter bool) ReadBack {
	if counter {
		return ReadBack{ID: id, Value: f.Count, ChecksumOK: f.Counter}
	}
	back := ReadBack{ID: id, Record: f.Record, ChecksumOK: f.Valid}
	if back.Record == nil {
		back.Record = &Record{}
	}
	return back
}
