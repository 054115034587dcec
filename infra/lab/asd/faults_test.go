package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	aerospike "github.com/aerospike/aerospike-client-go/v8"

	"brownout/infra/lab/asd/device"
)

const records = 600

// filled returns a cluster of five with data in it, and its client.
func filled(t *testing.T, args ...string) (*lab, *aerospike.Client) {
	t.Helper()
	l := newLab(t, 5, args...)
	client := l.client()
	for i := range records {
		if err := client.Put(nil, key(t, i), aerospike.BinMap{"v": i}); err != nil {
			t.Fatal(err)
		}
	}
	return l, client
}

// missing returns how many records cannot be found or are not what was written.
func missing(t *testing.T, client *aerospike.Client, want func(i int) int) int {
	t.Helper()
	gone := 0
	policy := aerospike.NewPolicy()
	policy.TotalTimeout, policy.MaxRetries, policy.SleepBetweenRetries = 10*time.Second, 100, 50*time.Millisecond
	for i := range records {
		if r, err := client.Get(policy, key(t, i)); err != nil || r.Bins["v"] != want(i) {
			gone++
		}
	}
	return gone
}

func same(i int) int { return i }

// copies returns how many copies of records all nodes but the one have, as they count them.
func (l *lab) copies(but *member) int {
	total := 0
	for _, n := range l.nodes {
		if n != but {
			total += atoi(n.number("namespace/test", "master_objects")) + atoi(n.number("namespace/test", "prole_objects"))
		}
	}
	return total
}

func atoi(text string) (n int) {
	for _, digit := range text {
		n = n*10 + int(digit-'0')
	}
	return n
}

func (n *member) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "asd.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAKilledNodeIsMissedLateAndThenReplaced(t *testing.T) {
	l, client := filled(t)
	before, victim := l.stable(5), l.nodes[2]
	victim.signal(syscall.SIGKILL)
	for _, n := range l.nodes[:2] {
		if n.info("cluster-stable:size=5") != before {
			t.Error("the survivors knew at once; they are to find out by missing heartbeats")
		}
	}
	if after := l.stable(4); after == before {
		t.Error("the key is the old one")
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
	if got := l.copies(victim); got != 2*records {
		t.Errorf("%d copies, wanted %d", got, 2*records)
	}
	t.Run("and comes back empty after a wipe", func(t *testing.T) { wipedReturn(t, l, client, victim) })
	t.Run("and comes back with what it had otherwise", func(t *testing.T) { unwipedReturn(t, l, client, victim) })
}

func wipedReturn(t *testing.T, l *lab, client *aerospike.Client, victim *member) {
	wipe(t, victim)
	l.start(victim)
	l.stable(5)
	if !strings.Contains(victim.log(t), "found all 1 devices fresh") {
		t.Error("the log does not say that the device was fresh")
	}
	if got := l.copies(nil); got != 2*records {
		t.Errorf("%d copies, wanted %d", got, 2*records)
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

func unwipedReturn(t *testing.T, l *lab, client *aerospike.Client, victim *member) {
	l.await("a flushed device", func() bool { return atoi(victim.number("namespace/test", "data_used_bytes")) > 0 })
	victim.signal(syscall.SIGKILL)
	l.stable(4)
	for i := range records {
		if err := client.Put(nil, key(t, i), aerospike.BinMap{"v": -i}); err != nil {
			t.Fatal(err)
		}
	}
	l.start(victim)
	l.await("an answer", func() bool { return victim.info("status") == "ok" })
	if atoi(victim.number("statistics", "objects")) == 0 {
		t.Error("it came back empty")
	}
	for i := 0; i < records; i += 2 { // while it rejoins and migrations go both ways
		if err := client.Put(patient(), key(t, i), aerospike.BinMap{"v": 2 * i}); err != nil {
			t.Fatal(err)
		}
	}
	l.stable(5)
	if n := missing(t, client, func(i int) int { return []int{2 * i, -i}[i%2] }); n > 0 {
		t.Errorf("%d records are not what was written last", n)
	}
	if atoi(victim.number("namespace/test", "migrate_tx_partitions_initial")) == 0 {
		t.Error("it had nothing to give: migrations are to go both ways")
	}
}

// patient returns a policy for writes that are to succeed whatever happens.
func patient() *aerospike.WritePolicy {
	policy := aerospike.NewWritePolicy(0, 0)
	policy.TotalTimeout, policy.MaxRetries, policy.SleepBetweenRetries = 10*time.Second, 100, 20*time.Millisecond
	return policy
}

// wipe zeroes the header of a node's device.
func wipe(t *testing.T, n *member) {
	t.Helper()
	file, err := os.OpenFile(n.data(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(make([]byte, device.HeaderSize), 0); err != nil {
		t.Fatal(err)
	}
}

func TestAHeaderZeroedUnderALiveNodeIsBackAfterAnOrderlyEnd(t *testing.T) {
	l, client := filled(t)
	victim := l.nodes[1]
	wipe(t, victim)
	victim.signal(syscall.SIGTERM)
	l.stable(4)
	l.start(victim)
	l.stable(5)
	if strings.Count(victim.log(t), "devices fresh") != 1 {
		t.Error("it came back fresh, though its header was rewritten from memory")
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

func TestLosingBothCopiesLooksHealthy(t *testing.T) {
	l, client := filled(t)
	for _, n := range l.nodes[:2] {
		n.signal(syscall.SIGKILL)
		wipe(t, n)
	}
	l.stable(3)
	for _, n := range l.nodes[:2] {
		l.start(n)
	}
	l.stable(5)
	fresh := 0
	for _, n := range l.nodes {
		if n.number("namespace/test", "dead_partitions") != "0" || n.number("namespace/test", "unavailable_partitions") != "0" {
			t.Error("a partition is said to be dead: the real server says nothing")
		}
		fresh = max(fresh, strings.Count(n.log(t), "fresh-partitions "))
	}
	if n := missing(t, client, same); n == 0 {
		t.Error("nothing is missing, though every copy of some records was wiped")
	}
}

func TestAFastRestartHidesTheOutage(t *testing.T) {
	l, client := filled(t)
	before, victim := l.stable(5), l.nodes[0]
	victim.signal(syscall.SIGKILL)
	l.start(victim)
	hidden := false
	l.await("an orphan among nodes that say all is well", func() bool {
		hidden = victim.number("statistics", "cluster_size") == "0" && l.nodes[3].info("cluster-stable:size=5") == before
		return hidden || l.nodes[3].info("cluster-stable:size=5;ignore-migrations=true") != before
	})
	if !hidden {
		t.Log("the restart took longer than the heartbeat timeout on this machine")
	}
	if key := l.stable(5); key == before {
		t.Error("the key is the old one")
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

func TestAnOrphanSaysSoInItsOwnWay(t *testing.T) {
	l := newLab(t, 3)
	victim := l.nodes[0]
	victim.signal(syscall.SIGKILL)
	l.stable(2)
	l.start(victim)
	l.await("an orphan", func() bool { return victim.number("statistics", "cluster_size") == "0" })
	statistics, generation, stable := victim.info("statistics"), victim.info("partition-generation"), victim.info("cluster-stable:")
	if victim.number("statistics", "cluster_size") != "0" {
		t.Skip("it joined while it was asked")
	}
	for _, want := range []string{"cluster_size=0", "cluster_key=0;", "migrate_partitions_remaining=0"} {
		if !strings.Contains(statistics, want) {
			t.Errorf("no %s in %s", want, statistics)
		}
	}
	if generation != "-1" || stable != "ERROR:7:unstable cluster" {
		t.Errorf("partition-generation %s, cluster-stable %s", generation, stable)
	}
}

func TestTheClusterOutlivesItsPrincipal(t *testing.T) {
	l, client := filled(t)
	l.nodes[4].signal(syscall.SIGKILL)
	l.stable(4)
	if got := l.nodes[0].number("statistics", "cluster_principal"); got != "A4" {
		t.Errorf("the principal is %s", got)
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

func TestAQuiescedNodeCanBeStoppedWithoutAnybodyNoticing(t *testing.T) {
	l, client := filled(t)
	victim, principal := l.nodes[2], l.nodes[4]
	before := l.stable(5)
	if got := victim.info("quiesce:"); got != "ok" || victim.number("namespace/test", "pending_quiesce") != "true" {
		t.Fatalf("quiesce: %s", got)
	}
	if victim.number("namespace/test", "effective_is_quiesced") != "false" {
		t.Error("it takes effect without recluster")
	}
	if got := principal.info("recluster:"); got != "ok" {
		t.Fatalf("recluster: %s", got)
	}
	l.await("a quiesced node", func() bool {
		return victim.number("namespace/test", "effective_is_quiesced") == "true" &&
			principal.number("namespace/test", "nodes_quiesced") == "1"
	})
	if l.stable(5) == before || victim.number("namespace/test", "master_objects") != "0" {
		t.Error("the quiesced node is still a master")
	}
	l.await("clients that have gone elsewhere", func() bool { return served(l, client, victim) == 0 })
	victim.signal(syscall.SIGTERM)
	for i := range 300 {
		if err := client.Put(nil, key(t, i), aerospike.BinMap{"v": i}); err != nil {
			t.Fatalf("a client noticed: %v", err)
		}
	}
	l.start(victim)
	l.stable(5)
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

// served returns how many of a hundred reads the node had a part in.
func served(l *lab, client *aerospike.Client, n *member) int {
	before := atoi(n.number("namespace/test", "client_read_success")) + atoi(n.number("namespace/test", "client_proxy_complete"))
	for i := range 100 {
		if _, err := client.Get(nil, key(l.t, i)); err != nil {
			l.t.Fatal(err)
		}
	}
	return atoi(n.number("namespace/test", "client_read_success")) + atoi(n.number("namespace/test", "client_proxy_complete")) - before
}

func TestTheCommunityEditionRefusesToQuiesce(t *testing.T) {
	l := newLab(t, 1, "-edition", "community")
	for _, command := range []string{"quiesce:", "quiesce", "quiesce-undo:", "racks:", "rack-ids"} {
		if got := l.nodes[0].info(command); got != "ERROR:25:enterprise only" {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := l.nodes[0].info("edition"); !strings.Contains(got, "Community") {
		t.Errorf("edition: %s", got)
	}
	if got := l.nodes[0].info("recluster:"); got != "ok" {
		t.Errorf("recluster: %s", got)
	}
}

// TestAWriteFromBeforeAPauseOverwritesANewerOne is the trap that loses acknowledged writes.
func TestAWriteFromBeforeAPauseOverwritesANewerOne(t *testing.T) {
	l, client := filled(t)
	k := key(t, 1)
	victim := l.nodes[strings.Index("A1A2A3A4A5", masterOf(l, k))/2]
	victim.signal(syscall.SIGSTOP)
	short := aerospike.NewWritePolicy(0, 0)
	short.TotalTimeout, short.SocketTimeout, short.MaxRetries = 100*time.Millisecond, 100*time.Millisecond, 0
	if err := client.Put(short, k, aerospike.BinMap{"v": -1}); err == nil || !err.IsInDoubt() {
		t.Fatalf("a write to a node that stands still: %v, wanted in doubt", err)
	}
	l.stable(4)
	if err := client.Put(patient(), k, aerospike.BinMap{"v": -2}); err != nil {
		t.Fatal(err)
	}
	victim.signal(syscall.SIGCONT)
	l.stable(5)
	policy := aerospike.NewPolicy()
	policy.TotalTimeout, policy.MaxRetries = 10*time.Second, 100
	r, err := client.Get(policy, k)
	if err != nil || r.Bins["v"] != -1 {
		t.Errorf("read %v, %v: the late write is to win over the acknowledged one", r, err)
	}
}

// masterOf returns the node that says it is the working master of a key's partition.
func masterOf(l *lab, k *aerospike.Key) string {
	l.t.Helper()
	for _, n := range l.nodes {
		for _, line := range strings.Split(n.info("partition-info"), ";") {
			columns := strings.Split(line, ":")
			if len(columns) > 7 && columns[1] == strconv.Itoa(k.PartitionId()) && columns[7] == n.id {
				return n.id
			}
		}
	}
	l.t.Fatal("no node is the master")
	return ""
}
