package couchbase

import (
	"testing"

	"brownout/loadgen/driver"
)

func TestARecordIsTakenApartAsItWasStored(t *testing.T) {
	for _, value := range []string{"", "v", "a\x00b\x00c", "12"} {
		record := driver.NewRecord("run-1", "id", 1<<40, []byte(value))
		f := takeApart("id", stored(record, []byte(value)))
		if !f.Valid || f.Counter || *f.Record != record {
			t.Errorf("%q came back as %+v", value, f)
		}
		if takeApart("another", stored(record, []byte(value))).Valid {
			t.Errorf("%q is valid under another key", value)
		}
	}
	for _, n := range []int64{0, 1, 1 << 40} {
		if f := takeApart("id", count(n)); !f.Counter || f.Count != n {
			t.Errorf("%d came back as %+v", n, f)
		}
	}
	for _, bad := range []string{"", "r", "r\x00", "rx\x00y\x0000000000", "rx\x001\x00zzzzzzzz", "x"} {
		if f := takeApart("id", []byte(bad)); f.Valid || f.Counter {
			t.Errorf("%q is %+v", bad, f)
		}
	}
}
