package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"brownout/infra/lab/asd/answers"
)

// namespace answers with every number of the namespace; another one is not an error.
func (n *Node) namespace(given parameters) string {
	if given["/"] != n.conf.Namespace.Name {
		return "type=unknown"
	}
	return answers.NamespaceStatistics.Render(n.namespaceNumbers()) + ";" +
		answers.NamespaceConfig.Render(n.namespaceSettings())
}

// objects is how many records a node has, by what it is to them.
type objects struct{ all, master, prole, other int }

func (n *Node) objects() objects {
	var o objects
	for _, p := range n.partitions {
		p.mu.Lock()
		records := len(p.records)
		o.all += records
		switch {
		case p.working == n.self:
			o.master += records
		case p.column(n.self) >= 0:
			o.prole += records
		default:
			o.other += records
		}
		p.mu.Unlock()
	}
	return o
}

func (n *Node) namespaceNumbers() map[string]string {
	live := map[string]string{}
	n.counts.Each(func(name string, value uint64) { live[name] = strconv.FormatUint(value, 10) })
	o, s := n.objects(), n.snapshot()
	set := func(name string, value any) { live[name] = fmt.Sprint(value) }
	set("ns_cluster_size", s.size)
	set("effective_replication_factor", s.replication)
	set("objects", o.all)
	set("master_objects", o.master)
	set("prole_objects", o.prole)
	set("non_replica_objects", o.other)
	set("stop_writes", n.stopWrites())
	set("current_time", n.clock()/1000)
	set("data_total_bytes", n.device.Size())
	set("data_used_bytes", n.device.Used())
	set("data_used_pct", n.usedPercent())
	set("data_avail_pct", 99-n.usedPercent())
	set("storage-engine.file[0].used_bytes", n.device.Used())
	set("pending_quiesce", s.pending)
	set("effective_is_quiesced", s.quiesced[n.self])
	set("nodes_quiesced", count(slices.Collect(maps.Values(s.quiesced))))
	set("migrate_fresh_partitions", s.fresh)
	n.migrationNumbers(set)
	return live
}

func (n *Node) migrationNumbers(set func(string, any)) {
	incoming := n.incoming.Load()
	n.moves.change(func(m *moves) {
		set("migrate_tx_instances", m.instances)
		set("migrate_tx_partitions_active", m.outActive)
		set("migrate_rx_partitions_active", incoming)
		set("migrate_tx_partitions_initial", m.outInitial)
		set("migrate_tx_partitions_remaining", m.out)
		set("migrate_tx_partitions_lead_remaining", m.outLead)
		set("migrate_rx_partitions_initial", m.inInitial)
		set("migrate_rx_partitions_remaining", m.in)
		set("migrate_records_transmitted", m.sent)
		set("migrate_record_receives", m.received)
		set("migrate_records_skipped", m.skipped)
		set("migrate_signals_remaining", m.signals)
	})
}

// statistics answers with the numbers of the whole node.
func (n *Node) statistics() string {
	live := map[string]string{}
	n.counts.Each(func(name string, value uint64) { live[name] = strconv.FormatUint(value, 10) })
	set := func(name string, value any) { live[name] = fmt.Sprint(value) }
	n.mu.Lock()
	key, size, whole := n.cluster.Key, len(n.cluster.Members), n.cluster.Whole
	principal, s := n.cluster.Principal(), n.state
	n.mu.Unlock()
	out, in := n.moves.remaining()
	set("cluster_size", size)
	live["cluster_key"] = fmt.Sprintf("%X", key)
	set("cluster_generation", s.rebalances)
	set("cluster_principal", principalName(principal))
	set("paxos_principal", principalName(principal))
	set("cluster_integrity", whole)
	set("cluster_is_member", whole)
	set("migrate_allowed", n.migrating.Load())
	set("migrate_partitions_remaining", out+in)
	set("objects", n.objects().all)
	set("uptime", seconds(n.born))
	set("time_since_rebalance", seconds(cmp.Or(s.rebalanced, n.born)))
	set("client_connections", n.clients.Load())
	set("client_connections_opened", n.opened.Load())
	set("client_connections_closed", n.opened.Load()-n.clients.Load())
	return answers.Statistics.Render(live)
}

// latencies answers with the rate and the shares over each limit, of the last whole ten seconds.
func (n *Node) latencies(given parameters) string {
	ns := "{" + n.conf.Namespace.Name + "}-"
	all := []struct{ name, value string }{
		{"batch-index", n.batches.String()},
		{ns + "read", n.reads.String()}, {ns + "write", n.writes.String()}, {ns + "udf", ""},
		{ns + "batch-sub-read", ""}, {ns + "batch-sub-write", ""}, {ns + "batch-sub-udf", ""},
		{ns + "pi-query", ""}, {ns + "si-query", ""},
	}
	var words []string
	for _, h := range all {
		if wanted := given["hist"]; wanted == "" || wanted == h.name {
			words = append(words, h.name+":"+h.value)
		}
	}
	return strings.Join(words, ";")
}

// sets answers with the number and size of each set's records.
func (n *Node) sets() string {
	type sum struct{ objects, bytes int }
	sums := map[string]sum{}
	for _, p := range n.partitions {
		p.mu.Lock()
		for _, r := range p.records {
			s := sums[r.Set]
			sums[r.Set] = sum{s.objects + 1, s.bytes + r.Size()}
		}
		p.mu.Unlock()
	}
	var out strings.Builder
	for _, set := range slices.Sorted(maps.Keys(sums)) {
		if set != "" {
			fmt.Fprintf(&out, setLine, n.conf.Namespace.Name, set, sums[set].objects, sums[set].bytes)
		}
	}
	return out.String()
}

const setLine = "ns=%s:set=%s:objects=%d:tombstones=0:data_used_bytes=%d:truncate_lut=0:sindexes=0:" +
	"index_populating=false:truncating=false:default-read-touch-ttl-pct=0:default-ttl=0:" +
	"disable-eviction=false:enable-index=false:stop-writes-count=0:stop-writes-size=0;"
