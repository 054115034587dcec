package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// encoder makes the payloads of hdr.Histogram.Encode, but does not compress them: the format wants
// a zlib stream, and this one stores the bytes. The log is larger, and much faster to write and to
// read. The encoder keeps its buffers from one payload to the next.
type encoder struct {
	plain  []byte
	packed bytes.Buffer
	stream *zlib.Writer
}

// Cookies of the payload V2, plain and compressed, with the marks of its counts' encoding.
const (
	plainCookie  = uint32(hdr.V2EncodingCookieBase) | 0x10
	packedCookie = uint32(hdr.V2CompressedEncodingCookieBase) | 0x10
)

// append appends the payload of a histogram in base64.
func (e *encoder) append(log []byte, histogram *hdr.Histogram) ([]byte, error) {
	e.plain = appendPlain(e.plain[:0], histogram.Export())
	e.packed.Reset()
	e.packed.Write(make([]byte, 8)) // cookie and length
	if e.stream == nil {
		var err error
		if e.stream, err = zlib.NewWriterLevel(&e.packed, zlib.NoCompression); err != nil {
			return log, err
		}
	} else {
		e.stream.Reset(&e.packed)
	}
	if _, err := e.stream.Write(e.plain); err != nil {
		return log, err
	}
	if err := e.stream.Close(); err != nil {
		return log, err
	}
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed, packedCookie)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	return base64.StdEncoding.AppendEncode(log, packed), nil
}

// appendPlain appends the payload before compression: a header, and counts as ZigZag LEB128, where a
// negative number stands for so many zeros.
func appendPlain(plain []byte, from *hdr.Snapshot) []byte {
	const header = 40
	plain = append(plain, make([]byte, header)...)
	counts := from.Counts
	for len(counts) > 1 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	for len(counts) > 0 {
		zeros := slices.IndexFunc(counts, func(n int64) bool { return n != 0 })
		if zeros > 1 {
			plain, counts = binary.AppendVarint(plain, int64(-zeros)), counts[zeros:]
			continue
		}
		plain, counts = binary.AppendVarint(plain, counts[0]), counts[1:]
	}
	binary.BigEndian.PutUint32(plain, plainCookie)
	binary.BigEndian.PutUint32(plain[4:], uint32(len(plain)-header))
	binary.BigEndian.PutUint32(plain[12:], uint32(from.SignificantFigures))
	binary.BigEndian.PutUint64(plain[16:], uint64(from.LowestTrackableValue))
	binary.BigEndian.PutUint64(plain[24:], uint64(from.HighestTrackableValue))
	binary.BigEndian.PutUint64(plain[32:], math.Float64bits(1)) // values are in the unit of the log
	return plain
}
