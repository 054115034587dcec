package driver

import "testing"

func TestADocumentIsMadeOrChangedAndWhatStaysIsAsItWasWritten(t *testing.T) {
	change := &Document{
		Put:  Properties{{"a", "new"}},
		Add:  Properties{{"n", int32(2)}, {"m", int64(3)}},
		Push: []Push{{Name: "list", Whole: []any{int64(1)}}},
	}
	for stored, want := range map[string]string{
		"":                               `{"a":"new","list":[1],"m":3,"n":2}`,
		`{"n":40,"kept":1.10,"a":"old"}`: `{"a":"new","kept":1.10,"list":[1],"m":3,"n":42}`,
	} {
		got, err := change.Applied([]byte(stored))
		if err != nil || got != want {
			t.Errorf("%q became %q (%v), wanted %q", stored, got, err, want)
		}
	}
	if got, err := change.Applied([]byte("no JSON")); err == nil {
		t.Errorf("what is not a document became %q", got)
	}
}

func TestANumberThatIsMissingIsNothing(t *testing.T) {
	for stored, want := range map[string]int64{`{"n":7}`: 7, `{"m":7}`: 0, "": 0, `{"n":"x"}`: 0} {
		if got := NumberIn([]byte(stored), "n"); got != want {
			t.Errorf("%q has %d, wanted %d", stored, got, want)
		}
	}
}
