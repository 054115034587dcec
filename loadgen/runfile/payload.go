package runfile

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

const (
	packedCookie = 0x1C849304
	plainCookie  = 0x1C849303
	ofWords      = 0xF0 // these bits of a cookie say how wide its words are
	headerSize   = 40
	mostBytes    = 8       // of a count
	mostNumbers  = 1 << 24 // bytes of all counts
)

// shape says which times a histogram tells apart, in µs.
type shape struct {
	lowest, highestTime int64
	digits              int32
}

func same(one, other *shape) error {
	if one == nil || other == nil || *one == *other {
		return nil
	}
	return fmt.Errorf("histograms of different shapes, %v and %v (lowest, highest, digits), cannot be added", *one, *other)
}

// half is the binary magnitude of half of a bucket's cells, as HdrHistogram computes it: a bucket
// has 2 × 10^digits cells or the next power of two.
func (s *shape) half() int {
	cells := uint64(2)
	for range s.digits {
		cells *= 10
	}
	return bits.Len64(cells-1) - 1
}

func (s *shape) unit() int { return bits.Len64(uint64(s.lowest)) - 1 }

// length is the number of cells: buckets until one holds the highest time, each with half of its
// cells, the first with both halves.
func (s *shape) length() int {
	half, buckets := s.half(), 1
	for least := uint64(2) << half << s.unit(); least <= uint64(s.highestTime) && least>>63 == 0; least <<= 1 {
		buckets++
	}
	return (buckets + 1) << half
}

// highest is the highest time that counts the same as the cell of this index.
func (s *shape) highest(index int) int64 {
	half := s.half()
	bucket := max(0, index>>half-1)
	cell := index
	if index >= 1<<half {
		cell = index&(1<<half-1) + 1<<half
	}
	return int64(cell+1)<<(s.unit()+bucket) - 1
}

// decoder takes payloads apart (HdrHistogram's V2, compressed): base64 of a cookie, a length and a
// zlib stream, which holds a header and the counts, ZigZag LEB128 numbers where a negative one
// stands for so many zeros. It keeps its buffers from one payload to the next.
type decoder struct {
	packed []byte
	plain  bytes.Buffer
	stream io.ReadCloser
	header [headerSize]byte // of the shape below
	shape  *shape
}

var errCut = errors.New("another format, or cut off")

// decode returns the shape and the bytes of the counts, until the next payload.
func (d *decoder) decode(payload []byte) (*shape, []byte, error) {
	var err error
	if d.packed, err = base64.StdEncoding.Strict().AppendDecode(d.packed[:0], payload); err != nil {
		return nil, nil, err
	}
	if len(d.packed) < 8 || binary.BigEndian.Uint32(d.packed)&^ofWords != packedCookie ||
		int64(binary.BigEndian.Uint32(d.packed[4:])) != int64(len(d.packed)-8) {
		return nil, nil, errCut
	}
	from := bytes.NewReader(d.packed[8:])
	if d.stream == nil {
		d.stream, err = zlib.NewReader(from)
	} else {
		err = d.stream.(zlib.Resetter).Reset(from, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	d.plain.Reset()
	if _, err := d.plain.ReadFrom(io.LimitReader(d.stream, headerSize+mostNumbers+1)); err != nil {
		return nil, nil, err
	}
	plain := d.plain.Bytes()
	if len(plain) < headerSize || len(plain) > headerSize+mostNumbers {
		return nil, nil, errCut
	}
	if err := d.takeHeader(plain[:headerSize]); err != nil {
		return nil, nil, err
	}
	numbers := plain[headerSize:]
	if int64(binary.BigEndian.Uint32(plain[4:])) != int64(len(numbers)) {
		return nil, nil, errCut
	}
	return d.shape, numbers, nil
}

// takeHeader reads the shape. Most headers of a run differ only in the length of the counts.
func (d *decoder) takeHeader(header []byte) error {
	if d.shape != nil && bytes.Equal(header[8:], d.header[8:]) && bytes.Equal(header[:4], d.header[:4]) {
		return nil
	}
	normalizing, digits := binary.BigEndian.Uint32(header[8:]), int32(binary.BigEndian.Uint32(header[12:]))
	lowest, highest := int64(binary.BigEndian.Uint64(header[16:])), int64(binary.BigEndian.Uint64(header[24:]))
	possible := lowest >= 1 && highest/2 >= lowest && 1 <= digits && digits <= 5
	if binary.BigEndian.Uint32(header)&^ofWords != plainCookie || normalizing != 0 || !possible {
		return errCut
	}
	found := &shape{lowest, highest, digits}
	if found.half()+found.unit() > 60 {
		return errCut // its times do not fit into 64 bits
	}
	copy(d.header[:], header)
	d.shape = found
	return nil
}
