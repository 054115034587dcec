package member

import (
	"slices"
	"testing"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
)

const (
	self    = nodeid.ID(5)
	timeout = 1500 * time.Millisecond
	ms      = time.Millisecond
)

// world is a node and a clock of its own.
type world struct {
	board   *Board
	cluster *Cluster
	now     time.Time
}

func newWorld(id nodeid.ID) *world {
	w := &world{board: NewBoard(id, timeout), now: time.Unix(1000, 0)}
	w.cluster = NewCluster(w.board)
	w.cluster.Started(w.now)
	return w
}

// hear lets the nodes be heard, all with the same key, by a world that they hear too.
func (w *world) hear(key uint64, ids ...nodeid.ID) {
	for _, id := range ids {
		if w.board.Hear(fabric.Pulse{From: id, Key: key, Sees: []nodeid.ID{w.board.self}}, w.now) {
			w.cluster.Arrived(w.now)
		}
	}
}

// proposes lets time pass, with those heard all the while, until the node proposes a cluster.
func (w *world) proposes(t *testing.T, key uint64, heard ...nodeid.ID) (members []nodeid.ID, after time.Duration) {
	t.Helper()
	return w.proposesWithin(10*time.Second, key, heard...)
}

func (w *world) proposesWithin(limit time.Duration, key uint64, heard ...nodeid.ID) (members []nodeid.ID, after time.Duration) {
	for start := w.now; w.now.Sub(start) < limit; w.now = w.now.Add(10 * ms) {
		w.hear(key, heard...)
		if gone := w.board.Expire(w.now); len(gone) > 0 {
			w.cluster.Departed(gone, w.now)
		}
		if members, due := w.cluster.Proposal(w.now); due {
			return members, w.now.Sub(start)
		}
	}
	return nil, 0
}

func (w *world) join(key uint64, members ...nodeid.ID) { w.cluster.Join(key, members, w.now) }

func about(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want-30*ms || got > want+30*ms {
		t.Errorf("%s after %v, wanted about %v", what, got, want)
	}
}

func TestAnOrphanProposesAllWhomItHearsOnceTheyHaveSettled(t *testing.T) {
	w := newWorld(self)
	members, after := w.proposes(t, 0, 1, 2, 3)
	if !slices.Equal(members, []nodeid.ID{5, 3, 2, 1}) {
		t.Errorf("%v", members)
	}
	about(t, "proposed", after, 1400*ms)
}

func TestANodeAloneMakesAClusterOfOne(t *testing.T) {
	if members, _ := newWorld(self).proposes(t, 0); !slices.Equal(members, []nodeid.ID{self}) {
		t.Errorf("%v", members)
	}
}

func TestOnlyTheHighestProposes(t *testing.T) {
	if members, _ := newWorld(2).proposes(t, 0, 1, 3); members != nil {
		t.Errorf("%v", members)
	}
}

func TestADeadNodeIsMissedForTheTimeoutAndALittleMore(t *testing.T) {
	w := newWorld(self)
	w.hear(7, 1, 2)
	w.join(7, 5, 2, 1)
	members, after := w.proposes(t, 7, 1)
	if !slices.Equal(members, []nodeid.ID{5, 1}) {
		t.Errorf("%v", members)
	}
	about(t, "proposed", after, timeout+450*ms)
}

func TestWithoutItsPrincipalTheNextOneTakesOver(t *testing.T) {
	w := newWorld(4)
	w.hear(7, 5, 1)
	w.join(7, 5, 4, 1)
	members, after := w.proposes(t, 7, 1)
	if !slices.Equal(members, []nodeid.ID{4, 1}) || w.cluster.Whole {
		t.Errorf("%v, whole %v", members, w.cluster.Whole)
	}
	about(t, "proposed", after, timeout+650*ms)
}

func TestAMemberThatAppliesTheClusterLateIsNotAstray(t *testing.T) {
	w := newWorld(self)
	w.hear(7, 1, 2)
	w.join(8, 5, 2, 1)
	if members, after := w.proposesWithin(700*ms, 7, 1, 2); members != nil {
		t.Errorf("%v after %v, while a member was still applying the cluster", members, after)
	}
	if members, after := w.proposesWithin(10*time.Second, 8, 1, 2); members != nil {
		t.Errorf("%v after %v, though all are in the same cluster", members, after)
	}
}

func TestANodeRestartedBeforeItWasMissedIsFoundByItsKey(t *testing.T) {
	w := newWorld(self)
	w.hear(7, 1, 2)
	w.join(7, 5, 2, 1)
	w.now = w.now.Add(time.Second)
	w.hear(0, 2)
	w.hear(7, 1)
	start := w.now
	for ; w.now.Sub(start) < 5*time.Second; w.now = w.now.Add(10 * ms) {
		w.hear(7, 1)
		w.hear(0, 2)
		if members, due := w.cluster.Proposal(w.now); due {
			if !slices.Equal(members, []nodeid.ID{5, 2, 1}) {
				t.Errorf("%v", members)
			}
			about(t, "proposed", w.now.Sub(start), 1900*ms)
			return
		}
	}
	t.Error("it was never found")
}

func TestANodeThatMissedItsPrincipalForAMomentIsFoundThoughNobodyMissedIt(t *testing.T) {
	missed := newWorld(4)
	missed.hear(7, 5)
	missed.join(7, 5, 4)
	missed.cluster.Departed([]nodeid.ID{5}, missed.now)
	missed.hear(7, 5)
	w := newWorld(self)
	w.hear(7, 4)
	w.join(7, 5, 4)
	members, after := w.proposes(t, missed.cluster.Told(), 4)
	if !slices.Equal(members, []nodeid.ID{5, 4}) {
		t.Errorf("%v", members)
	}
	about(t, "proposed", after, 2400*ms)
}

func TestAProcessThatStoodStillFindsEverybodyGoneFirst(t *testing.T) {
	w := newWorld(3)
	w.hear(7, 5, 4)
	w.join(7, 5, 4, 3)
	w.now = w.now.Add(6 * time.Second)
	gone := w.board.Expire(w.now)
	if !slices.Equal(gone, []nodeid.ID{5, 4}) || !w.cluster.Departed(gone, w.now) {
		t.Errorf("gone: %v", gone)
	}
	if !w.board.Hear(fabric.Pulse{From: 5}, w.now) {
		t.Error("who is heard again has not arrived")
	}
}

func TestWhoDoesNotHearUsIsNoMember(t *testing.T) {
	w := newWorld(self)
	w.board.Hear(fabric.Pulse{From: 1, Sees: []nodeid.ID{2}}, w.now)
	if got := w.board.Mutual(); !slices.Equal(got, []nodeid.ID{self}) {
		t.Errorf("%v", got)
	}
}

func TestReclusterIsProposedAtOnce(t *testing.T) {
	w := newWorld(self)
	w.hear(7, 1)
	w.join(7, 5, 1)
	w.cluster.Recluster(w.now)
	members, after := w.proposes(t, 7, 1)
	if !slices.Equal(members, []nodeid.ID{5, 1}) || after > 10*ms {
		t.Errorf("%v after %v", members, after)
	}
}

func TestAFailedProposalIsMadeAgain(t *testing.T) {
	w := newWorld(self)
	w.proposes(t, 0, 1)
	w.cluster.Failed(w.now)
	if members, after := w.proposes(t, 0, 1); members == nil || after > 500*ms {
		t.Errorf("%v after %v", members, after)
	}
}

func TestWhoIsLostIsDialledForTenTimeoutsMore(t *testing.T) {
	w := newWorld(self)
	w.board.Hear(fabric.Pulse{From: 4, Heartbeat: "four", Contacts: []string{"two", "self"}}, w.now)
	if got := w.board.Contacts(); !slices.Equal(got, []string{"four", "self", "two"}) {
		t.Errorf("%v: wanted everybody that can be heard of", got)
	}
	w.now = w.now.Add(timeout + ms)
	w.board.Expire(w.now)
	if got := w.board.Contacts(); !slices.Equal(got, []string{"four"}) {
		t.Errorf("%v: wanted the one that was lost, and none that it alone had heard", got)
	}
	w.now = w.now.Add(8 * timeout)
	if got := w.board.Forget(w.now); got != nil {
		t.Errorf("%v is forgotten too soon", got)
	}
	w.now = w.now.Add(timeout)
	if got := w.board.Forget(w.now); !slices.Equal(got, []nodeid.ID{4}) || len(w.board.Contacts()) > 0 {
		t.Errorf("%v is forgotten, contacts %v", got, w.board.Contacts())
	}
}

func TestWhoComesBackIsNotForgotten(t *testing.T) {
	w := newWorld(self)
	w.board.Hear(fabric.Pulse{From: 4, Heartbeat: "four"}, w.now)
	w.now = w.now.Add(2 * timeout)
	w.board.Expire(w.now)
	w.board.Hear(fabric.Pulse{From: 4, Heartbeat: "four"}, w.now)
	w.now = w.now.Add(20 * timeout)
	if got := w.board.Forget(w.now); got != nil {
		t.Errorf("%v is forgotten", got)
	}
}

func TestMembersThatCannotAgreeAreNotAskedAgainBeforeOneGoesOrComes(t *testing.T) {
	w := newWorld(self)
	w.hear(1, 3, 4)
	w.join(1, 5, 4, 3)
	w.cluster.Abandoned()
	if w.cluster.Recluster(w.now) {
		t.Error("a recluster is taken")
	}
	if members, after := w.proposes(t, 1, 3, 4); members != nil {
		t.Errorf("%v are proposed after %v", members, after)
	}
	if members, _ := w.proposes(t, 1, 2, 3, 4); !slices.Equal(members, []nodeid.ID{5, 4, 3, 2}) {
		t.Errorf("%v are proposed, wanted all four", members)
	}
	w.cluster.Abandoned()
	if members, _ := w.proposes(t, 1, 3); !slices.Equal(members, []nodeid.ID{5, 3}) {
		t.Errorf("%v are proposed, wanted those who are left", members)
	}
}
