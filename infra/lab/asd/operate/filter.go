package operate

import (
	"encoding/binary"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// A filter expression is packed as MessagePack: a list of the operation and its arguments. These
// are known: comparisons of whole numbers and texts, bins of these, and `and`.
const (
	exprEqual        = 1
	exprGreaterEqual = 4
	exprLessEqual    = 6
	exprAnd          = 16
	exprBin          = 81
)

// filtered holds a record against a filter. What cannot be worked out, as of a bin that is not
// there, filters the record out.
func filtered(old *record.Record, packed []byte) wire.Code {
	in := &unpacker{rest: packed}
	expression := in.value()
	if in.bad || len(in.rest) > 0 {
		return wire.BadParameter
	}
	got, known := evaluate(old, expression)
	if !known {
		return wire.Unsupported
	}
	if got != true {
		return wire.FilteredOut
	}
	return wire.OK
}

// evaluate returns what an expression is of a record: an int64, a string, a bool, or nil for
// nothing; known is false for what this server does not know.
func evaluate(of *record.Record, expression any) (got any, known bool) {
	list, isCall := expression.([]any)
	if !isCall {
		return expression, true
	}
	if len(list) > 0 && list[0] == int64(exprAnd) {
		all := true
		for _, each := range list[1:] {
			got, known := evaluate(of, each)
			if !known {
				return nil, false
			}
			all = all && got == true
		}
		return all, true
	}
	if len(list) != 3 {
		return nil, false
	}
	if list[0] == int64(exprBin) {
		name, isName := list[2].(string)
		return bin(of, name), isName
	}
	first, known1 := evaluate(of, list[1])
	second, known2 := evaluate(of, list[2])
	if !known1 || !known2 {
		return nil, false
	}
	a, aIsNumber := first.(int64)
	b, bIsNumber := second.(int64)
	numbers := aIsNumber && bIsNumber
	switch list[0] {
	case int64(exprEqual):
		return first != nil && first == second, true
	case int64(exprGreaterEqual):
		return numbers && a >= b, true
	case int64(exprLessEqual):
		return numbers && a <= b, true
	}
	return nil, false
}

func bin(of *record.Record, name string) any {
	i := of.Bin(name)
	if i < 0 {
		return nil
	}
	switch value := of.Bins[i].Value; of.Bins[i].Type {
	case wire.TypeInteger:
		return int64(binary.BigEndian.Uint64(value))
	case wire.TypeString:
		return string(value)
	}
	return nil
}

// unpacker takes MessagePack apart: lists, texts and whole numbers.
type unpacker struct {
	rest []byte
	bad  bool
}

func (in *unpacker) bytes(n int) []byte {
	if n > len(in.rest) {
		in.bad = true
		return make([]byte, 8)
	}
	taken := in.rest[:n]
	in.rest = in.rest[n:]
	return taken
}

func (in *unpacker) number(size int) (n uint64) {
	for _, b := range in.bytes(size)[:size] {
		n = n<<8 | uint64(b)
	}
	return n
}

func (in *unpacker) value() any {
	kind := byte(in.number(1))
	switch {
	case in.bad:
	case kind < 0x80:
		return int64(kind)
	case kind >= 0xe0:
		return int64(int8(kind))
	case kind&0xf0 == 0x90:
		list := make([]any, kind&0x0f)
		for i := range list {
			list[i] = in.value()
		}
		return list
	case kind&0xe0 == 0xa0:
		return in.text(int(kind & 0x1f))
	case kind == 0xd9:
		return in.text(int(in.number(1)))
	case kind == 0xda:
		return in.text(int(in.number(2)))
	case kind >= 0xcc && kind <= 0xcf: // unsigned, of 1, 2, 4 and 8 bytes
		return int64(in.number(1 << (kind - 0xcc)))
	case kind == 0xd3:
		return int64(in.number(8))
	default:
		in.bad = true
	}
	return nil
}

// text is a name as it is, or a value after a byte that says that it is a text.
func (in *unpacker) text(size int) string {
	if size > len(in.rest) {
		in.bad = true
		return ""
	}
	taken := in.bytes(size)
	if size > 0 && taken[0] == wire.TypeString {
		taken = taken[1:]
	}
	return string(taken)
}
