package drivertest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

// CopiesAreRead loads a data set into a cluster in which `each` servers have a copy of every record,
// and wants each of `servers` to return its own. Then damage changes the copy of one server of the
// plain record with this id, behind the back of the others: only that copy must differ.
func CopiesAreRead(t *testing.T, d driver.Driver, servers, each int, damage func(id string)) {
	t.Helper()
	data := DatasetOf(RunID)
	load(t, d, data)
	reads, ok := driver.As[driver.ReadsCopies](d)
	if !ok {
		t.Fatal("it reads no copies")
	}
	copies, err := reads.Copies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, one := range copies {
			one.Close()
		}
	}()
	if len(copies) != servers {
		t.Fatalf("%d servers have copies, wanted %d", len(copies), servers)
	}
	for _, verified := range []bool{false, true} {
		Until(t, fmt.Sprintf("every server has all (verified: %v)", verified), func() bool {
			told := copiesOf(t, copies, verified, idsOf(data, verified))
			for id, of := range told {
				if len(of) != each {
					t.Fatalf("%s is told by %d servers, wanted %d", id, len(of), each)
				}
				for _, back := range of {
					if back.Missing || !back.ChecksumOK {
						return false
					}
				}
			}
			return len(told) == len(idsOf(data, verified))
		})
	}
	if damage == nil {
		return
	}
	id := driver.DataID(7)
	damage(id)
	bad := 0
	for _, back := range copiesOf(t, copies, false, []string{id})[id] {
		if back.Missing || !back.ChecksumOK {
			bad++
		}
	}
	if bad != 1 {
		t.Errorf("%d copies are damaged, wanted 1", bad)
	}
}

func idsOf(data driver.Dataset, verified bool) (ids []string) {
	for i := range data.Total() {
		if item := data.Item(i); item.Verified == verified && !item.Counter {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

func copiesOf(t *testing.T, copies []driver.Copy, verified bool, ids []string) map[string][]driver.ReadBack {
	t.Helper()
	told := map[string][]driver.ReadBack{}
	var mu sync.Mutex
	for _, one := range copies {
		err := one.Read(context.WithoutCancel(t.Context()), verified, ids, false, func(back driver.ReadBack) {
			mu.Lock()
			defer mu.Unlock()
			told[back.ID] = append(told[back.ID], back)
		})
		if err != nil {
			t.Fatalf("%s: %v", one.Server(), err)
		}
	}
	return told
}
