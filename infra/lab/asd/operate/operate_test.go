package operate

import (
	"encoding/binary"
	"math"
	"testing"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

func integer(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func number(kind byte, bin string, n int64) wire.Op {
	return wire.Op{Kind: kind, Type: wire.TypeInteger, Bin: bin, Value: integer(n)}
}

func text(kind byte, bin, value string) wire.Op {
	return wire.Op{Kind: kind, Type: wire.TypeString, Bin: bin, Value: []byte(value)}
}

func existing() *record.Record {
	return &record.Record{Generation: 3, Updated: 100, Bins: []record.Bin{
		{Name: "n", Type: wire.TypeInteger, Value: integer(5)},
		{Name: "t", Type: wire.TypeString, Value: []byte("x")},
	}}
}

func write(info2, info3 byte, ops ...wire.Op) *wire.Request {
	return &wire.Request{Info2: wire.Info2Write | info2, Info3: info3, Ops: ops}
}

func TestWhatAWriteMayDo(t *testing.T) {
	set := number(wire.OpWrite, "n", 9)
	generation := func(n uint32, info2 byte) *wire.Request {
		r := write(info2, 0, set)
		r.Generation = n
		return r
	}
	expires := write(0, 0, set)
	expires.TTL = 100
	for _, c := range []struct {
		name    string
		old     *record.Record
		request *wire.Request
		want    wire.Code
	}{
		{"a new one", nil, write(0, 0, set), wire.OK},
		{"only a new one, of an old one", existing(), write(wire.Info2CreateOnly, 0, set), wire.RecordExists},
		{"only an old one, of none", nil, write(0, wire.Info3UpdateOnly, set), wire.NotFound},
		{"only in place of one, of none", nil, write(0, wire.Info3ReplaceOld, set), wire.NotFound},
		{"the right generation", existing(), generation(3, wire.Info2Generation), wire.OK},
		{"a wrong generation", existing(), generation(4, wire.Info2Generation), wire.WrongGeneration},
		{"a generation of none", nil, generation(5, wire.Info2Generation), wire.WrongGeneration},
		{"no generation of none", nil, generation(0, wire.Info2Generation), wire.OK},
		{"not a newer generation", existing(), generation(3, wire.Info2NewerGen), wire.WrongGeneration},
		{"deleting none", nil, write(wire.Info2Delete, 0), wire.NotFound},
		{"expiring", nil, expires, wire.Forbidden},
		{"a long name", nil, write(0, 0, number(wire.OpWrite, "sixteen_letters_", 1)), wire.BadBinName},
		{"adding to text", existing(), write(0, 0, number(wire.OpAdd, "t", 1)), wire.WrongType},
		{"appending to a number", existing(), write(0, 0, text(wire.OpAppend, "n", "x")), wire.WrongType},
		{"appending a number", existing(), write(0, 0, number(wire.OpAppend, "n", 1)), wire.BadParameter},
		{"adding text", existing(), write(0, 0, text(wire.OpAdd, "n", "x")), wire.BadParameter},
		{"a list", existing(), write(0, 0, wire.Op{Kind: 4, Bin: "l"}), wire.Unsupported},
		{"too much", nil, write(0, 0, text(wire.OpWrite, "t", string(make([]byte, maxRecord)))), wire.RecordTooBig},
	} {
		done := Write(c.old, record.Digest{}, c.request, 200)
		if done.Code != c.want || done.Changed != (c.want == wire.OK) {
			t.Errorf("%s: code %d, changed %v; wanted code %d", c.name, done.Code, done.Changed, c.want)
		}
	}
}

func TestOperationsSeeWhatTheOnesBeforeDid(t *testing.T) {
	r := write(0, 0, number(wire.OpAdd, "n", 2), wire.Op{Kind: wire.OpRead, Bin: "n"},
		text(wire.OpAppend, "t", "y"), text(wire.OpPrepend, "t", "w"), wire.Op{Kind: wire.OpRead, Bin: "t"},
		number(wire.OpAdd, "new", 1), wire.Op{Kind: wire.OpTouch})
	old := existing()
	done := Write(old, record.Digest{}, r, 50)
	if done.Code != wire.OK || len(done.Ops) != 2 {
		t.Fatalf("%+v", done)
	}
	if string(done.Ops[0].Value) != string(integer(7)) || string(done.Ops[1].Value) != "wxy" {
		t.Errorf("read %v and %q", done.Ops[0].Value, done.Ops[1].Value)
	}
	if done.Record.Generation != 4 || done.Record.Updated != 100 {
		t.Errorf("generation %d at %d, wanted 4 and never earlier than before", done.Record.Generation, done.Record.Updated)
	}
	if string(old.Bins[0].Value) != string(integer(5)) || string(old.Bins[1].Value) != "x" {
		t.Error("the version that is stored was changed")
	}
}

func TestAReplacementLeavesNothingOfTheOld(t *testing.T) {
	done := Write(existing(), record.Digest{}, write(0, wire.Info3Replace, number(wire.OpWrite, "a", 1)), 200)
	if len(done.Record.Bins) != 1 || done.Record.Generation != 4 {
		t.Errorf("%+v", done.Record)
	}
}

func TestARecordWithoutBinsIsGone(t *testing.T) {
	null := func(bin string) wire.Op { return wire.Op{Kind: wire.OpWrite, Bin: bin} }
	for name, ops := range map[string][]wire.Op{
		"every bin removed": {null("n"), null("t"), null("none")},
		"deleted":           {{Kind: wire.OpDelete}},
	} {
		done := Write(existing(), record.Digest{}, write(0, 0, ops...), 200)
		if !done.Changed || done.Record != nil {
			t.Errorf("%s: %+v", name, done)
		}
	}
}

func TestFloatsAdd(t *testing.T) {
	float := func(f float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)) }
	old := &record.Record{Bins: []record.Bin{{Name: "f", Type: wire.TypeFloat, Value: float(1.5)}}}
	add := wire.Op{Kind: wire.OpAdd, Type: wire.TypeFloat, Bin: "f", Value: float(0.25)}
	done := Write(old, record.Digest{}, write(0, 0, add), 1)
	if string(done.Record.Bins[0].Value) != string(float(1.75)) {
		t.Errorf("%v", done.Record.Bins[0].Value)
	}
}

func TestEveryWriteAnswersIfAllResultsAreAsked(t *testing.T) {
	r := write(wire.Info2AllResults, 0, number(wire.OpWrite, "n", 1), wire.Op{Kind: wire.OpRead, Bin: "none"})
	if done := Write(existing(), record.Digest{}, r, 1); len(done.Ops) != 2 {
		t.Errorf("%+v", done.Ops)
	}
}

func TestWhatAReadFinds(t *testing.T) {
	read := func(info1 byte, bins ...string) *wire.Request {
		r := &wire.Request{Info1: wire.Info1Read | info1}
		for _, bin := range bins {
			r.Ops = append(r.Ops, wire.Op{Kind: wire.OpRead, Bin: bin})
		}
		return r
	}
	for _, c := range []struct {
		name    string
		found   *record.Record
		request *wire.Request
		code    wire.Code
		bins    int
	}{
		{"nothing", nil, read(wire.Info1AllBins), wire.NotFound, 0},
		{"all", existing(), read(wire.Info1AllBins), wire.OK, 2},
		{"one and one that is not there", existing(), read(0, "n", "none"), wire.OK, 1},
		{"all by an operation", existing(), read(0, ""), wire.OK, 2},
		{"only that it is there", existing(), read(wire.Info1NoBins), wire.OK, 0},
	} {
		done := Read(c.found, c.request)
		if done.Code != c.code || len(done.Ops) != c.bins {
			t.Errorf("%s: code %d, %d bins", c.name, done.Code, len(done.Ops))
		}
	}
}
