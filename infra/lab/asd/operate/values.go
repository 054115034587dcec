package operate

import (
	"encoding/binary"
	"math"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// add increments a number; a bin that is not there counts from nothing.
func add(next *record.Record, op wire.Op) wire.Code {
	i := next.Bin(op.Bin)
	if len(op.Value) != 8 || (op.Type != wire.TypeInteger && op.Type != wire.TypeFloat) {
		return wire.BadParameter
	}
	if i < 0 {
		set(next, op.Bin, op.Type, op.Value)
		return wire.OK
	}
	if next.Bins[i].Type != op.Type {
		return wire.WrongType
	}
	next.Bins[i].Value = sum(op.Type, next.Bins[i].Value, op.Value)
	return wire.OK
}

func sum(kind byte, a, b []byte) []byte {
	x, y := binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b)
	if kind == wire.TypeFloat {
		total := math.Float64frombits(x) + math.Float64frombits(y)
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(total))
	}
	return binary.BigEndian.AppendUint64(nil, x+y)
}

// join puts text or bytes before or after what is in the bin.
func join(next *record.Record, op wire.Op) wire.Code {
	i := next.Bin(op.Bin)
	if op.Type != wire.TypeString && op.Type != wire.TypeBytes {
		return wire.BadParameter
	}
	if i < 0 {
		set(next, op.Bin, op.Type, op.Value)
		return wire.OK
	}
	if next.Bins[i].Type != op.Type {
		return wire.WrongType
	}
	first, second := next.Bins[i].Value, op.Value
	if op.Kind == wire.OpPrepend {
		first, second = second, first
	}
	next.Bins[i].Value = append(append([]byte(nil), first...), second...)
	return wire.OK
}
