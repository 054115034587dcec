package wire

import (
	"encoding/binary"
	"errors"
)

// Kinds of field of a request.
const (
	fieldNamespace byte = 0
	fieldSet       byte = 1
	fieldKey       byte = 2
	fieldDigest    byte = 4
	fieldQueryID   byte = 7
	fieldBatch     byte = 41
	fieldBatchSet  byte = 42
	fieldFilter    byte = 43
)

const (
	messageHeader = 22
	digestSize    = 20
)

var errCut = errors.New("request cut off")

// Op is one operation on one bin, or one bin of an answer.
type Op struct {
	Kind  byte
	Type  byte
	Bin   string
	Value []byte
}

// Request is one message of a client about one record, or about many if Batch is set.
type Request struct {
	Info1, Info2, Info3 byte
	Generation, TTL     uint32
	TimeoutMs           uint32
	Namespace, Set      string
	Key                 []byte // type and value, only if the client wants it stored
	Digest              []byte
	Batch               []byte
	Query               bool
	Filter              []byte // an expression, packed
	Ops                 []Op
}

// Has tells whether a bit of the second byte of flags is set.
func (r *Request) Has(info2 byte) bool { return r.Info2&info2 != 0 }

// IsWrite tells whether the request may change its record.
func (r *Request) IsWrite() bool { return r.Info2&Info2Write != 0 }

// ParseRequest reads the body of a message frame. It keeps parts of body.
func ParseRequest(body []byte) (*Request, error) {
	if len(body) < messageHeader || body[0] != messageHeader {
		return nil, errCut
	}
	r := &Request{
		Info1: body[1], Info2: body[2], Info3: body[3],
		Generation: binary.BigEndian.Uint32(body[6:]),
		TTL:        binary.BigEndian.Uint32(body[10:]),
		TimeoutMs:  binary.BigEndian.Uint32(body[14:]),
	}
	in := &reader{body[messageHeader:]}
	fields, ops := int(binary.BigEndian.Uint16(body[18:])), int(binary.BigEndian.Uint16(body[20:]))
	if !r.readFields(in, fields) || !r.readOps(in, ops) {
		return nil, errCut
	}
	return r, nil
}

func (r *Request) readFields(in *reader, n int) bool {
	for range n {
		size, ok := in.uint32()
		if !ok || size == 0 {
			return false
		}
		kind, value, ok := in.tagged(int(size))
		if !ok {
			return false
		}
		r.take(kind, value)
	}
	return true
}

func (r *Request) take(kind byte, value []byte) {
	switch kind {
	case fieldNamespace:
		r.Namespace = string(value)
	case fieldSet:
		r.Set = string(value)
	case fieldKey:
		r.Key = value
	case fieldDigest:
		if len(value) == digestSize {
			r.Digest = value
		}
	case fieldBatch, fieldBatchSet:
		r.Batch = value
	case fieldQueryID:
		r.Query = true
	case fieldFilter:
		r.Filter = value
	}
}

func (r *Request) readOps(in *reader, n int) bool {
	for range n {
		size, ok := in.uint32()
		if !ok || size < 4 {
			return false
		}
		raw, ok := in.bytes(int(size))
		if !ok || int(raw[3])+4 > len(raw) {
			return false
		}
		end := 4 + int(raw[3])
		r.Ops = append(r.Ops, Op{Kind: raw[0], Type: raw[1], Bin: string(raw[4:end]), Value: raw[end:]})
	}
	return true
}

// reader takes a buffer apart; every method tells whether there was enough.
type reader struct{ rest []byte }

func (in *reader) bytes(n int) ([]byte, bool) {
	if n < 0 || n > len(in.rest) {
		return nil, false
	}
	taken := in.rest[:n:n]
	in.rest = in.rest[n:]
	return taken, true
}

func (in *reader) byte() (byte, bool) {
	b, ok := in.bytes(1)
	if !ok {
		return 0, false
	}
	return b[0], true
}

func (in *reader) uint16() (uint16, bool) {
	b, ok := in.bytes(2)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint16(b), true
}

func (in *reader) uint32() (uint32, bool) {
	b, ok := in.bytes(4)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

func (in *reader) tagged(size int) (byte, []byte, bool) {
	raw, ok := in.bytes(size)
	if !ok {
		return 0, nil, false
	}
	return raw[0], raw[1:], true
}
