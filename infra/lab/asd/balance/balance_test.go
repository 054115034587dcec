package balance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

var five = []nodeid.ID{0xA5, 0xA4, 0xA3, 0xA2, 0xA1}

func none(n int) []bool { return make([]bool, n) }

func TestANodeThatGoesMovesNothingButItsOwnShare(t *testing.T) {
	without := []nodeid.ID{0xA5, 0xA4, 0xA2, 0xA1}
	for pid := range record.Partitions {
		before := named(five, Succession(pid, five, none(5)))
		after := named(without, Succession(pid, without, none(4)))
		before = slices.DeleteFunc(before, func(id nodeid.ID) bool { return id == 0xA3 })
		if !slices.Equal(before, after) {
			t.Fatalf("partition %d: %v became %v", pid, before, after)
		}
	}
}

func TestEveryNodeGetsAboutItsShare(t *testing.T) {
	masters := map[int]int{}
	for pid := range record.Partitions {
		masters[Succession(pid, five, none(5))[0]]++
	}
	for i, n := range masters {
		if n < 700 || n > 940 {
			t.Errorf("node %s is master of %d of 4,096", five[i], n)
		}
	}
}

func TestAQuiescedNodeComesLast(t *testing.T) {
	quiesced := []bool{false, false, true, false, false}
	for pid := range record.Partitions {
		if order := Succession(pid, five, quiesced); order[4] != 2 {
			t.Fatalf("partition %d: %v", pid, order)
		}
	}
}

func named(ids []nodeid.ID, order []int) []nodeid.ID {
	names := make([]nodeid.ID, len(order))
	for i, k := range order {
		names[i] = ids[k]
	}
	return names
}

func TestVersionsArePackedAndWritten(t *testing.T) {
	v := Version{Key: 0x1cddf791d07a, Family: 1, Master: true, Subset: true}
	if Unpack(v.Pack()) != v || v.String() != "1cddf791d07a.1.mps-" {
		t.Errorf("%v, %s", Unpack(v.Pack()), v)
	}
}

const (
	old = 0x11
	now = 0x22
)

// Copies as they are once migrations are done, and as they are in between.
var (
	master  = Version{Key: old, Master: true}
	prole   = Version{Key: old}
	part    = Version{Key: old, Subset: true, Evade: true}
	foreign = Version{Key: 0x07} // of an earlier cluster
)

// story writes who sends to whom, at once and later, and who is the working master.
func story(versions []Version, replicas int) string {
	l := Layout{Key: now, Nodes: five[:len(versions)], Versions: versions, Replicas: replicas}
	text := fmt.Sprintf("master %s", l.Of(0).Working)
	for i, id := range l.Nodes {
		role := l.Of(i)
		for _, to := range role.Emigrates {
			text += fmt.Sprintf(" %s>%s", id, to)
		}
		if role.Later > 0 {
			text += fmt.Sprintf(" %s>>%d", id, role.Later)
		}
		if role.Drop {
			text += fmt.Sprintf(" %s drops", id)
		}
	}
	return text
}

func TestWhoAnswersAndWhoSendsToWhom(t *testing.T) {
	gone := Version{}
	for _, c := range []struct {
		name     string
		versions []Version // in the order of the succession A5, A4, A3, A2
		want     string
	}{
		{"no node has it", []Version{gone, gone, gone, gone}, "master A5"},
		{"all is well", []Version{master, prole, gone, gone}, "master A5"},
		{"the master died", []Version{prole, gone, gone}, "master A5 A5>A4"},
		{"the prole died", []Version{master, gone, gone}, "master A5 A5>A4"},
		{"both died", []Version{gone, gone, gone}, "master A5"},
		{"the master is back empty", []Version{gone, master, prole, gone}, "master A4 A4>A5"},
		{"the prole is back empty", []Version{master, gone, prole}, "master A5 A5>A4"},
		{"the master is back with what it had", []Version{foreign, master, prole}, "master A4 A5>>1 A4>A5"},
		{"the prole is back with what it had", []Version{master, foreign, prole}, "master A5 A5>>1 A4>A5"},
		{"a copy is left over", []Version{master, prole, prole, gone}, "master A5 A3 drops"},
		{"the master is quiesced", []Version{prole, gone, gone, master}, "master A5 A5>A4"},
		{"the filling was cut off", []Version{master, part, gone}, "master A5 A5>A4"},
		{"the only whole copy died while the other was filled", []Version{part, gone, gone}, "master A5 A5>A4"},
		{"the master was restarted before it was missed", []Version{master.Restarted(), prole, gone}, "master A4 A4>A5"},
		{"all were restarted", []Version{master.Restarted(), prole.Restarted(), gone}, "master A5 A5>>1 A4>A5"},
		{"two clusters meet", []Version{master, {Key: 0x07, Master: true}, gone}, "master A5 A5>>1 A4>A5"},
	} {
		if got := story(c.versions, 2); got != c.want {
			t.Errorf("%s: %s, wanted %s", c.name, got, c.want)
		}
	}
}

func TestAFreshPartitionIsThereOnTheReplicasOnly(t *testing.T) {
	l := Layout{Key: now, Nodes: five[:3], Versions: make([]Version, 3), Replicas: 2}
	for i, want := range []Version{{Key: now, Master: true}, {Key: now}, {}} {
		if role := l.Of(i); role.Version != want || !role.Fresh {
			t.Errorf("node %d: %+v", i, role)
		}
	}
}

// anyVersions returns versions as clusters leave them behind, of up to three earlier ones.
func anyVersions(random *rand.Rand) []Version {
	versions := make([]Version, 2+random.IntN(4))
	for i := range versions {
		if random.IntN(3) > 0 {
			versions[i] = Version{
				Key: uint64(1 + random.IntN(3)), Family: uint8(random.IntN(3)),
				Master: random.IntN(4) == 0, Subset: random.IntN(3) == 0, Evade: random.IntN(4) == 0,
			}
		}
	}
	return versions
}

func TestWhatIsSentIsExpected(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		versions := anyVersions(random)
		l := Layout{Key: now, Nodes: five[:len(versions)], Versions: versions, Replicas: min(2, len(versions))}
		comes := map[nodeid.ID]int{}
		for i := range l.Nodes {
			role := l.Of(i)
			for _, to := range role.Emigrates {
				comes[to]++
			}
			for k := 1; k < l.Replicas; k++ {
				if i == 0 && role.Later > 0 && role.Immigrates[k] {
					comes[l.Nodes[k]]++
				}
			}
		}
		for i, id := range l.Nodes {
			if role := l.Of(i); role.Immigrants != comes[id] {
				t.Fatalf("%v: %s expects %d and gets %d", versions, id, role.Immigrants, comes[id])
			}
		}
	}
}

func TestNoContentIsLeftBehind(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		versions := anyVersions(random)
		l := Layout{Key: now, Nodes: five[:len(versions)], Versions: versions, Replicas: min(2, len(versions))}
		for i, v := range versions {
			if v.HasData() && !reaches(l, i) && !slices.ContainsFunc(l.Nodes, func(id nodeid.ID) bool {
				k := slices.Index(l.Nodes, id)
				return versions[k].whole(v) && reaches(l, k)
			}) {
				t.Fatalf("%v: what %s has stays there", versions, l.Nodes[i])
			}
		}
	}
}

// reaches tells whether the copy at i is at the final master or gets there.
func reaches(l Layout, i int) bool {
	role := l.Of(i)
	return i == 0 || role.Working == l.Nodes[i] || len(role.Emigrates) > 0
}

func TestCopiesLieOnRacksOfTheirOwn(t *testing.T) {
	order, calm := []int{4, 2, 0, 1, 3}, none(5)
	for _, c := range []struct {
		name     string
		racks    []int // of members 0 to 4
		quiesced []bool
		replicas int
		want     []int
	}{
		{"no racks", []int{0, 0, 0, 0, 0}, calm, 2, []int{4, 2, 0, 1, 3}},
		{"one rack", []int{7, 7, 7, 7, 7}, calm, 3, []int{4, 2, 0, 1, 3}},
		{"two racks", []int{1, 2, 1, 2, 1}, calm, 2, []int{4, 1, 2, 0, 3}},
		{"more copies than racks", []int{1, 2, 1, 2, 1}, calm, 3, []int{4, 1, 2, 0, 3}},
		{"as many copies as racks", []int{1, 2, 3, 1, 3}, calm, 3, []int{4, 0, 1, 2, 3}},
		{"more racks than copies", []int{1, 2, 3, 4, 5}, calm, 2, []int{4, 2, 0, 1, 3}},
		{"one copy", []int{1, 2, 1, 2, 1}, calm, 1, []int{4, 2, 0, 1, 3}},
		{"the other rack is quiesced", []int{1, 1, 1, 2, 1}, []bool{false, false, false, true, false}, 2, []int{4, 2, 0, 1, 3}},
	} {
		if got := Spread(order, c.racks, c.quiesced, c.replicas); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, wanted %v", c.name, got, c.want)
		}
	}
}

func TestMastersAreSpreadWithRacksAsWithout(t *testing.T) {
	for pid := range record.Partitions {
		order := Succession(pid, five, none(5))
		spread := Spread(order, []int{1, 1, 1, 2, 2}, none(5), 2)
		if spread[0] != order[0] || (spread[0] < 3) == (spread[1] < 3) {
			t.Fatalf("partition %d: %v became %v", pid, order, spread)
		}
	}
}

// settled returns the versions of a partition whose first nodes have it, and no other.
func settled(nodes, copies int) []Version {
	versions := make([]Version, nodes)
	for i := range copies {
		versions[i] = Version{Key: old, Master: i == 0}
	}
	return versions
}

func TestTheFactorChangesAndNoCopyGoesBeforeItMay(t *testing.T) {
	for before := 1; before <= 5; before++ {
		for after := 1; after <= 5; after++ {
			l := Layout{Key: now, Nodes: five, Versions: settled(5, before), Replicas: after}
			whole, filled := 0, 0
			for i := range l.Nodes {
				role := l.Of(i)
				if l.Versions[i].HasData() && !role.Drop {
					whole++
				}
				if i == 0 {
					filled = len(role.Emigrates)
				}
				if role.Drop != (i >= after && i < before) {
					t.Errorf("%d to %d: node %d drops: %v", before, after, i, role.Drop)
				}
			}
			if whole < min(before, after) || filled != max(0, after-before) {
				t.Errorf("%d to %d: %d copies stay, %d are made", before, after, whole, filled)
			}
		}
	}
}

func TestRacksAreGivenAndNoCopyGoesBeforeTheOthersAreThere(t *testing.T) {
	// Both copies lie on nodes of one rack; the second is to lie on the other one, third in order.
	l := Layout{
		Key: now, Nodes: []nodeid.ID{0xA5, 0xA3, 0xA4, 0xA2}, Replicas: 2,
		Versions: []Version{master, {}, prole, {}},
	}
	if got := l.Of(2); got.Drop || !got.Version.HasData() {
		t.Errorf("the copy that is left over goes at once: %+v", got)
	}
	if got := l.Of(0); !slices.Equal(got.Emigrates, []nodeid.ID{0xA3}) || !slices.Contains(got.Witnesses, 0xA4) {
		t.Errorf("%+v", got)
	}
}
