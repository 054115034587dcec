package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	aerospike "github.com/aerospike/aerospike-client-go/v8"
)

func TestALonerIsTakenInWhenOneMemberIsToldOfIt(t *testing.T) {
	l, client := filled(t)
	before, loner := l.stable(5), l.loner()
	l.await("a cluster of its own", func() bool { return loner.number("statistics", "cluster_size") == "1" })
	if got := l.nodes[0].info("cluster-stable:size=5"); got != before {
		t.Errorf("the others noticed a node that was never announced: %s", got)
	}
	tip := "tip:host=127.0.0.1;port=" + loner.setting("network", "heartbeat.port")
	for _, want := range []string{"ok", "ERROR::unknown"} {
		if got := l.nodes[0].info(tip); got != want {
			t.Errorf("%s: %s, wanted %s", tip, got, want)
		}
	}
	l.stable(6)
	if atoi(loner.number("namespace/test", "migrate_record_receives")) == 0 || loner.number("statistics", "objects") == "0" {
		t.Error("it got no records")
	}
	if got := l.copies(nil); got != 2*records {
		t.Errorf("%d copies, wanted %d", got, 2*records)
	}
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
	t.Run("and is forgotten when it has left", func(t *testing.T) { forgotten(t, l, loner) })
}

func forgotten(t *testing.T, l *lab, gone *member) {
	heartbeat := gone.setting("network", "heartbeat.port")
	gone.signal(syscall.SIGTERM)
	l.nodes = l.nodes[:5]
	l.stable(5)
	n := l.nodes[0]
	if !strings.Contains(n.info("alumni-clear-std"), "[A6,") || strings.Contains(n.info("peers-clear-std"), "[A6,") {
		t.Errorf("alumni %s, peers %s", n.info("alumni-clear-std"), n.info("peers-clear-std"))
	}
	clear := "tip-clear:host-port-list=127.0.0.1:" + heartbeat
	for _, want := range []string{"ok", "ERROR::0 cleared, 1 not found"} {
		if got := n.info(clear); got != want {
			t.Errorf("%s: %s, wanted %s", clear, got, want)
		}
	}
	l.all("services-alumni-reset")
	if got := n.info("alumni-clear-std"); strings.Contains(got, "[A6,") {
		t.Errorf("it is remembered: %s", got)
	}
	if got := n.info("get-config:context=network"); strings.Contains(got, "127.0.0.1:"+heartbeat) {
		t.Errorf("it is a seed still: %s", got)
	}
	l.start(gone) // soon: the others dial it for ten time-outs, a seed or not
	l.nodes = append(l.nodes, gone)
	l.stable(6)
	gone.signal(syscall.SIGKILL)
	l.nodes = l.nodes[:5]
	l.stable(5)
	l.await("no node that dials it", func() bool {
		for _, n := range l.nodes {
			if !strings.Contains(n.log(t), "mesh forgetting node a6") {
				return false
			}
		}
		return true
	})
	l.start(gone)
	l.nodes = append(l.nodes, gone)
	l.await("a cluster of its own", func() bool { return gone.number("statistics", "cluster_size") == "1" })
}

func TestTheReplicationFactorIsRaisedAndLoweredWhileItServes(t *testing.T) {
	l, client := filled(t)
	for _, factor := range []int{3, 1, 2} {
		l.all(fmt.Sprintf("set-config:context=namespace;id=test;replication-factor=%d", factor))
		if got := l.nodes[0].number("namespace/test", "replication-factor"); got != fmt.Sprint(factor) {
			t.Errorf("replication-factor=%s, wanted %d", got, factor)
		}
		before := l.stable(5)
		l.recluster()
		l.await("a new key", func() bool { return l.stable(5) != before })
		for _, n := range l.nodes {
			if got := n.number("namespace/test", "effective_replication_factor"); got != fmt.Sprint(factor) {
				t.Errorf("%s: effective_replication_factor=%s, wanted %d", n.id, got, factor)
			}
		}
		if got := l.objects(); got != factor*records {
			t.Errorf("factor %d: %d objects, wanted %d", factor, got, factor*records)
		}
		if n := missing(t, client, same); n > 0 {
			t.Errorf("factor %d: %d records cannot be read", factor, n)
		}
	}
}

// objects returns what all nodes hold, what is left over too.
func (l *lab) objects() int {
	total := 0
	for _, n := range l.nodes {
		total += atoi(n.number("statistics", "objects"))
	}
	return total
}

func TestNodesOfDifferentFactorsFormNoCluster(t *testing.T) {
	l := newLab(t, 3)
	before := l.stable(3)
	l.nodes[0].info("set-config:context=namespace;id=test;replication-factor=3")
	l.recluster()
	l.await("a refusal", func() bool { return strings.Contains(l.nodes[2].log(t), "unmatched replication factors from 2 to 3") })
	l.nodes[0].info("set-config:context=namespace;id=test;replication-factor=2")
	if got := l.nodes[2].info("recluster:"); got != "ERROR::unknown" {
		t.Errorf("recluster: %s, though the exchange was abandoned", got)
	}
	if got := l.nodes[1].info("cluster-stable:"); got != "ERROR:7:unstable cluster" {
		t.Errorf("cluster-stable: %s", got)
	}
	l.nodes[0].signal(syscall.SIGKILL) // only who goes or comes ends it
	l.start(l.nodes[0])
	if after := l.stable(3); after == before {
		t.Error("the key is the old one")
	}
}

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	n := newLab(t, 1).nodes[0]
	for _, setting := range []string{
		"context=namespace;id=test;replication-factor=0", "context=namespace;id=test;replication-factor=x",
		"context=namespace;id=test;rack-id=2", "context=service;migrate-threads=101",
		"context=service;migrate-max-num-incoming=257", "context=network;heartbeat.timeout=x",
	} {
		if got := n.info("set-config:" + setting); got != "ERROR:4:invalid set-config parameter" {
			t.Errorf("%s: %s", setting, got)
		}
	}
}

func TestMigrationsWaitWhileThereIsNoThreadForThem(t *testing.T) {
	l, client := filled(t)
	l.all("set-config:context=service;migrate-threads=0")
	l.nodes[1].signal(syscall.SIGKILL)
	left := append([]*member{l.nodes[0]}, l.nodes[2:]...)
	l.await("a cluster of four", func() bool {
		return !strings.HasPrefix(left[0].info("cluster-stable:size=4;ignore-migrations=true"), "ERROR")
	})
	if got := left[0].number("statistics", "migrate_partitions_remaining"); got == "0" {
		t.Error("it has migrated all the same")
	}
	for _, n := range left {
		n.info("set-config:context=service;migrate-threads=4")
		if got := n.setting("service", "migrate-threads"); got != "4" {
			t.Errorf("migrate-threads=%s", got)
		}
	}
	l.stable(4)
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records cannot be read", n)
	}
}

func TestARackIsLostAndNothingWithIt(t *testing.T) {
	l := layOut(t, 4, 2)
	l.startAll()
	client := l.client()
	for i := range records {
		if err := client.Put(nil, key(t, i), aerospike.BinMap{"v": i}); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.nodes[0].info("racks:"); got != "ns=test:rack_1=A3,A1:rack_2=A4,A2" {
		t.Errorf("racks: %s", got)
	}
	if got := l.nodes[1].info("rack-ids"); got != "test:2" {
		t.Errorf("rack-ids: %s", got)
	}
	for _, rack := range []int{1, 2} {
		held := 0
		for _, n := range l.nodes {
			if n.rack == rack {
				held += atoi(n.number("statistics", "objects"))
			}
		}
		if held != records {
			t.Errorf("rack %d has %d records of %d", rack, held, records)
		}
	}
	for _, n := range []*member{l.nodes[0], l.nodes[2]} {
		n.signal(syscall.SIGKILL)
		wipe(t, n)
	}
	l.stable(2)
	if n := missing(t, client, same); n > 0 {
		t.Errorf("%d records are gone with one rack", n)
	}
}

func TestTheCommunityEditionRefusesRacks(t *testing.T) {
	l := layOut(t, 1, 1, "-edition", "community")
	said, err := l.command(l.nodes[0]).CombinedOutput()
	if _, failed := err.(*exec.ExitError); !failed || !strings.Contains(string(said), "rack-id is enterprise-only") {
		t.Errorf("%v: %s", err, said)
	}
}
