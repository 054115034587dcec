// Package operate says what a request makes of a record. It is pure: the caller holds the
// record's lock, stores what comes out and answers the client.
package operate

import (
	"math"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

const (
	maxBinName = 15
	maxRecord  = 1 << 20
	keepExpiry = math.MaxUint32 - 1
)

// Outcome is what a request makes of a record. Record is the new version, nil for
// none; without Changed everything stays as it was.
type Outcome struct {
	Code    wire.Code
	Changed bool
	Record  *record.Record
	Ops     []wire.Op
}

// Write returns what a write makes of old, which is nil where there is no record. now is in ms of
// the record's clock.
func Write(old *record.Record, digest record.Digest, r *wire.Request, now uint64) Outcome {
	if code := allowed(old, r); code != wire.OK {
		return Outcome{Code: code}
	}
	if r.Has(wire.Info2Delete) {
		return Outcome{Changed: true}
	}
	next := successor(old, digest, r, now)
	ops, code := applyAll(next, r)
	if code == wire.OK && next.Size() > maxRecord {
		code = wire.RecordTooBig
	}
	if code != wire.OK {
		return Outcome{Code: code}
	}
	if len(next.Bins) == 0 {
		return Outcome{Changed: old != nil, Ops: ops}
	}
	return Outcome{Changed: true, Record: next, Ops: ops}
}

// allowed checks all that a client may ask of the record's state before it is touched.
func allowed(old *record.Record, r *wire.Request) wire.Code {
	var generation uint32
	if old != nil {
		generation = uint32(old.Generation)
	}
	switch {
	case old == nil && (r.Has(wire.Info2Delete) || r.Info3&(wire.Info3UpdateOnly|wire.Info3ReplaceOld) != 0):
		return wire.NotFound
	case old != nil && r.Has(wire.Info2CreateOnly):
		return wire.RecordExists
	case r.Has(wire.Info2Generation) && r.Generation != generation:
		return wire.WrongGeneration
	case r.Has(wire.Info2NewerGen) && r.Generation <= generation:
		return wire.WrongGeneration
	case r.TTL != 0 && r.TTL < keepExpiry:
		return wire.Forbidden // as the real one without a namespace supervisor: nothing would expire
	}
	if old == nil || r.Filter == nil {
		return wire.OK
	}
	return filtered(old, r.Filter)
}

func successor(old *record.Record, digest record.Digest, r *wire.Request, now uint64) *record.Record {
	next := &record.Record{Digest: digest, Set: r.Set, Key: r.Key, Generation: 1, Updated: now}
	if old == nil {
		return next
	}
	next.Set, next.Generation = old.Set, record.NextGeneration(old.Generation)
	next.Updated = max(now, old.Updated)
	if r.Key == nil {
		next.Key = old.Key
	}
	if r.Info3&(wire.Info3Replace|wire.Info3ReplaceOld) == 0 {
		next.Bins = append([]record.Bin(nil), old.Bins...)
	}
	return next
}

// applyAll makes the operations one after the other; reads see what stands before them, but for the
// one of all bins, which comes last and once: clients ask for it with a flag and an operation.
func applyAll(next *record.Record, r *wire.Request) ([]wire.Op, wire.Code) {
	var answers []wire.Op
	for _, op := range r.Ops {
		if len(op.Bin) > maxBinName {
			return nil, wire.BadBinName
		}
		if op.Kind == wire.OpRead && op.Bin == "" && r.Info1&wire.Info1AllBins != 0 {
			continue
		}
		if op.Kind == wire.OpRead {
			answers = append(answers, readOp(next, op, r.Has(wire.Info2AllResults))...)
			continue
		}
		if code := applyOne(next, op); code != wire.OK {
			return nil, code
		}
		if r.Has(wire.Info2AllResults) {
			answers = append(answers, wire.Op{Kind: op.Kind, Bin: op.Bin})
		}
	}
	if r.Info1&wire.Info1AllBins != 0 {
		answers = append(answers, AllBins(next)...)
	}
	return answers, wire.OK
}

func applyOne(next *record.Record, op wire.Op) wire.Code {
	switch op.Kind {
	case wire.OpWrite:
		set(next, op.Bin, op.Type, op.Value)
		return wire.OK
	case wire.OpAdd:
		return add(next, op)
	case wire.OpAppend, wire.OpPrepend:
		return join(next, op)
	case wire.OpTouch:
		return wire.OK
	case wire.OpDelete:
		next.Bins = nil
		return wire.OK
	}
	return wire.Unsupported // lists, maps, bits, HyperLogLog and expressions
}

// set gives a bin its value; a null one takes the bin away.
func set(next *record.Record, name string, kind byte, value []byte) {
	i := next.Bin(name)
	switch {
	case kind == wire.TypeNull && i >= 0:
		next.Bins = append(next.Bins[:i:i], next.Bins[i+1:]...)
	case kind == wire.TypeNull:
	case i >= 0:
		next.Bins[i].Type, next.Bins[i].Value = kind, value
	default:
		next.Bins = append(next.Bins, record.Bin{Name: name, Type: kind, Value: value})
	}
}
