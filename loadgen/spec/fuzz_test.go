package spec

import (
	"encoding/json"
	"testing"
)

// FuzzParse wants of every text either problems in words or a spec that can be used and, written
// down, is read again as a spec.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"schema":1,"streams":[{"name":"a","mix":{"read":1e308,"update":1e308},"concurrency":3}]}`))
	f.Add([]byte(`{"streams":[null],"options":{"a":[1,{"b":null}]},"linger_s":-1}`))
	f.Add([]byte(`null`))
	f.Add([]byte(models))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
			return
		}
		_, _, _ = s.Loop(), s.LedgerSets(), s.DriverConfig()
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		if _, err := Parse(again); err != nil {
			t.Errorf("%q is a spec, but %s is not: %v", text, again, err)
		}
	})
}
