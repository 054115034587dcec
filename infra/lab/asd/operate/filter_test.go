package operate

import (
	"testing"

	"brownout/infra/lab/asd/wire"
)

// within is the packed filter 4 <= n and n <= 6, of a bin of numbers.
func within(bin string) []byte {
	name := append([]byte{0x93, exprBin, 2, 0xa0 | byte(len(bin))}, bin...)
	low := append(append([]byte{0x93, exprGreaterEqual}, name...), 4)
	high := append(append([]byte{0x93, exprLessEqual}, name...), 6)
	return all(low, high)
}

// all is a packed `and` of packed filters.
func all(filters ...[]byte) []byte {
	packed := []byte{0x90 | byte(1+len(filters)), exprAnd}
	for _, each := range filters {
		packed = append(packed, each...)
	}
	return packed
}

func TestAWriteWithAFilterWantsOfTheRecordWhatItSays(t *testing.T) {
	text := []byte{0x93, exprEqual, 0x93, exprBin, 3, 0xa1, 't', 0xa2, wire.TypeString, 'x'}
	for name, c := range map[string]struct {
		filter []byte
		want   wire.Code
	}{
		"a number that is there":     {within("n"), wire.OK},
		"a bin that is not there":    {within("m"), wire.FilteredOut},
		"a bin of another type":      {within("t"), wire.FilteredOut},
		"a text that is there":       {text, wire.OK},
		"three that hold":            {all(within("n"), text, text), wire.OK},
		"the last of three does not": {all(text, text, within("m")), wire.FilteredOut},
		"one of three not known":     {all(text, text, []byte{0x93, 2, 1, 1}), wire.Unsupported},
		"an operation not known":     {[]byte{0x93, 2, 1, 1}, wire.Unsupported},
		"what is cut off":            {within("n")[:5], wire.BadParameter},
		"a number that is too large": {[]byte{0x93, exprLessEqual, 7, 6}, wire.FilteredOut},
	} {
		request := write(0, wire.Info3UpdateOnly, number(wire.OpAdd, "n", 1))
		request.Filter = c.filter
		if got := Write(existing(), existing().Digest, request, 200); got.Code != c.want {
			t.Errorf("%s: got %d, wanted %d", name, got.Code, c.want)
		}
	}
}
