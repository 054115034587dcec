package operate

import (
	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// Read returns what a read finds in a record, which is nil where there is none.
func Read(found *record.Record, r *wire.Request) Outcome {
	if found == nil {
		return Outcome{Code: wire.NotFound}
	}
	if r.Info1&wire.Info1NoBins != 0 {
		return Outcome{}
	}
	if r.Info1&wire.Info1AllBins != 0 {
		return Outcome{Ops: AllBins(found)}
	}
	var ops []wire.Op
	for _, op := range r.Ops {
		if op.Kind != wire.OpRead {
			return Outcome{Code: wire.Unsupported}
		}
		ops = append(ops, readOp(found, op, r.Has(wire.Info2AllResults))...)
	}
	return Outcome{Ops: ops}
}

// AllBins returns every bin of a record.
func AllBins(found *record.Record) []wire.Op {
	ops := make([]wire.Op, len(found.Bins))
	for i, b := range found.Bins {
		ops[i] = wire.Op{Kind: wire.OpRead, Type: b.Type, Bin: b.Name, Value: b.Value}
	}
	return ops
}

// readOp returns one bin; without a name all of them; one that is not there only if all is asked.
func readOp(found *record.Record, op wire.Op, always bool) []wire.Op {
	if op.Bin == "" {
		return AllBins(found)
	}
	i := found.Bin(op.Bin)
	if i < 0 {
		if always {
			return []wire.Op{{Kind: wire.OpRead, Bin: op.Bin}}
		}
		return nil
	}
	b := found.Bins[i]
	return []wire.Op{{Kind: wire.OpRead, Type: b.Type, Bin: b.Name, Value: b.Value}}
}
