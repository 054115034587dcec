package record

import (
	"reflect"
	"testing"
)

func sample() *Record {
	return &Record{
		Digest: Digest{0x34, 0x12, 9}, Set: "s", Key: []byte{3, 'k'}, Generation: 7, Updated: 1 << 39,
		Bins: []Bin{{"n", 1, []byte{0, 0, 0, 0, 0, 0, 0, 1}}, {"text", 3, []byte("x")}},
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	got, err := Parse(sample().Append(nil))
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestACutOffRecordIsAnError(t *testing.T) {
	whole := sample().Append(nil)
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a record", n, len(whole))
		}
	}
}

func TestThePartitionIsTheLowTwelveBitsOfTheDigest(t *testing.T) {
	if got := sample().Digest.Partition(); got != 0x234 {
		t.Errorf("got %#x", got)
	}
}

func TestTheBetterRecordWins(t *testing.T) {
	v := func(generation uint16, updated uint64) *Record {
		return &Record{Generation: generation, Updated: updated}
	}
	for _, c := range []struct {
		name                     string
		there, came              *Record
		generation, updatedFirst bool // what the two policies say
	}{
		{"none is there", nil, v(1, 1), true, true},
		{"the same", v(2, 5), v(2, 5), false, false},
		{"more writes, earlier", v(2, 5), v(3, 4), true, false},
		{"fewer writes, later", v(3, 4), v(2, 5), false, true},
		{"as many writes, later", v(2, 4), v(2, 5), true, true},
		{"as late, more writes", v(2, 5), v(3, 5), true, true},
		{"as late, started again", v(0xFFFF, 5), v(1, 5), false, true},
	} {
		if got := ByGeneration.Better(c.there, c.came); got != c.generation {
			t.Errorf("%s: by generation %v", c.name, got)
		}
		if got := ByUpdateTime.Better(c.there, c.came); got != c.updatedFirst {
			t.Errorf("%s: by update time %v", c.name, got)
		}
	}
}

func TestGenerationsStartAgainFromOne(t *testing.T) {
	if NextGeneration(1) != 2 || NextGeneration(0xFFFF) != 1 {
		t.Error("the generation after 1 is 2 and after 65,535 is 1")
	}
}
