package record

import (
	"encoding/binary"
	"errors"
)

// Bin is one named value of a record; Type and Value are as the client wrote them.
type Bin struct {
	Name  string
	Type  byte
	Value []byte
}

// Record is one version of a record. It is never changed once it is stored: a write makes another.
type Record struct {
	Digest     Digest
	Set        string
	Key        []byte // as the client sent it to be stored; usually none
	Generation uint16
	Updated    uint64 // ms since the epoch of 2010 that Aerospike counts from
	Bins       []Bin
}

// EpochMs is the beginning of Aerospike's clock, 2010-01-01, in Unix time.
const EpochMs = 1262304000000

var errFlat = errors.New("not the flat form of a record")

// Bin returns the index of the bin called name, -1 without one.
func (r *Record) Bin(name string) int {
	for i := range r.Bins {
		if r.Bins[i].Name == name {
			return i
		}
	}
	return -1
}

// Size returns about how many bytes the record takes on disk.
func (r *Record) Size() int {
	size := 20 + 2 + 8 + 2 + len(r.Set) + 4 + len(r.Key) + 2
	for _, b := range r.Bins {
		size += 6 + len(b.Name) + len(b.Value)
	}
	return size
}

// Append writes the flat form to the end of dst.
func (r *Record) Append(dst []byte) []byte {
	dst = append(dst, r.Digest[:]...)
	dst = binary.BigEndian.AppendUint16(dst, r.Generation)
	dst = binary.BigEndian.AppendUint64(dst, r.Updated)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Set)))
	dst = append(dst, r.Set...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.Key)))
	dst = append(dst, r.Key...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Bins)))
	for _, b := range r.Bins {
		dst = append(dst, byte(len(b.Name)), b.Type)
		dst = append(dst, b.Name...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(b.Value)))
		dst = append(dst, b.Value...)
	}
	return dst
}

// Parse reads a record's flat form. It keeps parts of flat.
func Parse(flat []byte) (*Record, error) {
	in := reader{rest: flat}
	r := &Record{}
	copy(r.Digest[:], in.take(20))
	r.Generation = uint16(in.number(2))
	r.Updated = in.number(8)
	r.Set = string(in.take(int(in.number(2))))
	r.Key = in.take(int(in.number(4)))
	n := int(in.number(2))
	if in.short || n > len(in.rest) {
		return nil, errFlat
	}
	r.Bins = make([]Bin, n)
	for i := range r.Bins {
		name := int(in.number(1))
		r.Bins[i].Type = byte(in.number(1))
		r.Bins[i].Name = string(in.take(name))
		r.Bins[i].Value = in.take(int(in.number(4)))
	}
	if in.short {
		return nil, errFlat
	}
	return r, nil
}

// reader takes a buffer apart; after a step too far it is short and gives zeros.
type reader struct {
	rest  []byte
	short bool
}

func (in *reader) take(n int) []byte {
	if n < 0 || n > len(in.rest) {
		in.short = true
		return nil
	}
	taken := in.rest[:n:n]
	in.rest = in.rest[n:]
	return taken
}

func (in *reader) number(size int) uint64 {
	var n uint64
	for _, b := range in.take(size) {
		n = n<<8 | uint64(b)
	}
	return n
}
