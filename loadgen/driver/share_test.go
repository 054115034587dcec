package driver

import (
	"testing"
	"testing/quick"
)

func TestSharesAreDisjointWholeAndEven(t *testing.T) {
	property := func(first, length uint16, parts uint8) bool {
		of, at, sum := int(parts%20)+1, uint64(first), 0
		for index := range of {
			share := Share{Index: index, Of: of}
			from, to := share.Range(uint64(first), uint64(first)+uint64(length))
			if from != at || int(to-from) != share.Count(int(length)) {
				return false
			}
			at, sum = to, sum+share.Count(int(length))
		}
		return at == uint64(first)+uint64(length) && sum == int(length)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestOneAloneHasEverythingAndTheSeedAsItIs(t *testing.T) {
	for _, share := range []Share{{}, {Index: 0, Of: 1}} {
		from, to := share.Range(3, 10)
		if from != 3 || to != 10 || share.Count(7) != 7 || share.Seed(4711) != 4711 || !share.Has(5) || !share.Alone() {
			t.Errorf("%+v has not everything", share)
		}
	}
}

func TestEveryGeneratorHasASeedOfItsOwn(t *testing.T) {
	seeds := map[uint64]bool{}
	for index := range 1000 {
		seeds[Share{Index: index, Of: 1000}.Seed(1)] = true
	}
	if len(seeds) != 1000 || (Share{Index: 1, Of: 2}).Seed(1) != (Share{Index: 1, Of: 7}).Seed(1) {
		t.Errorf("%d seeds of 1000", len(seeds))
	}
}

func TestAShareOfALoadCountsItsOwnItems(t *testing.T) {
	data := Dataset{Keys: 10, Ledger: []LedgerSet{{Keys: 5}}, Share: Share{Index: 1, Of: 2}}
	var done, total uint64
	written := NewWritten(data, 4, func(d, t uint64) { done, total = d, t })
	written.Add(1)
	if data.Mine() != 7 || done != 3 || total != 7 { // of 4 to 9 it has 3, of all ten 5
		t.Errorf("%d of %d, wanted 3 of 7", done, total)
	}
}
