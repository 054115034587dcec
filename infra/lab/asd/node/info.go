package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// Edition is what the server says of itself: never the name of Aerospike's product.
func Edition(o Options) string {
	if o.Enterprise {
		return "brownout stand-in, Enterprise commands"
	}
	return "brownout stand-in, Community commands"
}

// protocolBuild is the version whose protocol is spoken; clients insist on a number.
const protocolBuild = "8.1.2.0"

func (n *Node) build() string { return protocolBuild + "-brownout-stand-in-" + n.options.Version }

const (
	errUnknown    = "ERROR:4:unrecognized command"
	errEnterprise = "ERROR:25:enterprise only"
	errUnstable   = "ERROR:7:unstable cluster"
)

// parameters are what stands behind the first colon of a command: `size=5;namespace=test`.
type parameters map[string]string

// info answers any number of commands, one a line, each answer behind its command.
func (n *Node) info(request string) string {
	n.counts.Add("info_complete")
	var out strings.Builder
	for _, command := range strings.Split(request, "\n") {
		if command != "" {
			fmt.Fprintf(&out, "%s\t%s\n", command, n.command(command))
		}
	}
	return out.String()
}

func (n *Node) command(command string) string {
	name, text, _ := strings.Cut(command, ":")
	given := parameters{}
	for _, pair := range strings.Split(text, ";") {
		key, value, _ := strings.Cut(pair, "=")
		given[key] = value
	}
	name, rest, _ := strings.Cut(name, "/")
	answer, known := commands[name]
	if !known {
		return errUnknown
	}
	if rest != "" {
		given["/"] = rest
	}
	return answer(n, given)
}

// commands is every info command there is.
var commands map[string]func(*Node, parameters) string

func init() {
	plain := func(f func(*Node) string) func(*Node, parameters) string {
		return func(n *Node, _ parameters) string { return f(n) }
	}
	text := func(s string) func(*Node, parameters) string {
		return func(*Node, parameters) string { return s }
	}
	commands = map[string]func(*Node, parameters) string{
		"node":                  plain(func(n *Node) string { return n.self.String() }),
		"name":                  plain(func(n *Node) string { return n.self.String() }),
		"build":                 plain((*Node).build),
		"edition":               plain(func(n *Node) string { return Edition(n.options) }),
		"version":               plain(func(n *Node) string { return "brownout stand-in build " + n.build() }),
		"release":               plain((*Node).release),
		"status":                text("ok"),
		"features":              text(features),
		"compatibility-id":      text("15"),
		"partitions":            text("4096"),
		"cluster-name":          plain(func(n *Node) string { return n.conf.ClusterName }),
		"namespaces":            plain(func(n *Node) string { return n.conf.Namespace.Name }),
		"service":               plain(func(n *Node) string { return n.conf.Service.Public() }),
		"service-clear-std":     plain(func(n *Node) string { return n.conf.Service.Public() }),
		"service-clear-alt":     text(""),
		"mesh":                  plain(func(n *Node) string { return n.conf.Heartbeat.Public() }),
		"tip":                   (*Node).tip,
		"tip-clear":             (*Node).tipClear,
		"services":              plain(func(n *Node) string { return addresses(n.snapshot().peers) }),
		"services-alumni":       plain(func(n *Node) string { return addresses(n.alumni()) }),
		"services-alumni-reset": plain((*Node).resetAlumni),
		"peers-generation":      plain((*Node).peersGeneration),
		"peers-clear-std":       plain(func(n *Node) string { return n.peers(n.snapshot().peers) }),
		"peers-clear-alt":       plain(func(n *Node) string { return n.peers(nil) }),
		"peers-tls-std":         plain(func(n *Node) string { return n.peers(nil) }),
		"peers-tls-alt":         plain(func(n *Node) string { return n.peers(nil) }),
		"alumni-clear-std":      plain(func(n *Node) string { return n.peers(n.alumni()) }),
		"alumni-clear-alt":      plain(func(n *Node) string { return n.peers(nil) }),
		"partition-generation":  plain(func(n *Node) string { return fmt.Sprint(n.generation.Load()) }),
		"rebalance-generation":  plain(func(n *Node) string { return fmt.Sprint(n.snapshot().rebalances) }),
		"replicas":              plain(func(n *Node) string { return n.replicas(true, maxColumns) }),
		"replicas-all":          plain(func(n *Node) string { return n.replicas(false, maxColumns) }),
		"replicas-master":       plain((*Node).replicasMaster),
		"partition-info":        plain((*Node).partitionInfo),
		"cluster-stable":        (*Node).clusterStable,
		"recluster":             plain((*Node).recluster),
		"quiesce":               plain((*Node).quiesce),
		"quiesce-undo":          plain((*Node).unquiesce),
		"roster":                text(errEnterprise),
		"roster-set":            text(errEnterprise),
		"revive":                text(errEnterprise),
		"racks":                 (*Node).racks,
		"rack-ids":              plain((*Node).rackID),
		"feature-key":           text(errEnterprise),
		"namespace":             (*Node).namespace,
		"statistics":            plain((*Node).statistics),
		"latencies":             (*Node).latencies,
		"sets":                  plain((*Node).sets),
		"get-config":            (*Node).getConfig,
		"set-config":            (*Node).setConfig,
		"truncate":              (*Node).truncateCommand,
		"logs":                  plain(func(n *Node) string { return "0:" + n.conf.LogFile }),
		"health-stats":          text(""),
		"health-outliers":       text(""),
		"sindex-list":           text(""),
		"best-practices":        text("failed_best_practices=none"),
		"connection":            text("admin=false"),
		"user-agent-set":        text("ok"),
		"user-agents":           text(""),
	}
}

// features has pscans because clients for Java and C take a server without it for one before 4.9, and
// refuse it; a scan itself is answered as unsupported.
const features = "batch-any;batch-index;cluster-stable;float;peers;pipelining;pscans;relaxed-sc;replicas;" +
	"replicas-all;replicas-master;replicas-max;truncate-namespace"

func (n *Node) release() string {
	return fmt.Sprintf("edition=%s;version=%s;os=linux;arch=any;sha=none", Edition(n.options), n.build())
}

// snapshot returns what the last cluster change left.
func (n *Node) snapshot() state {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state
}

func addresses(peers []peer) string {
	words := make([]string, len(peers))
	for i, p := range peers {
		words[i] = p.service
	}
	return strings.Join(words, ";")
}

func (n *Node) peersGeneration() string { return fmt.Sprint(n.snapshot().peersChanged) }

// peers writes `8,3000,[[A2,,[127.0.0.1:3010]],…]`; none for kinds of address that there are not.
func (n *Node) peers(some []peer) string {
	var words []string
	for _, p := range some {
		address := strings.TrimSuffix(p.service, ":3000")
		words = append(words, fmt.Sprintf("[%s,,[%s]]", p.id, address))
	}
	return fmt.Sprintf("%d,3000,[%s]", n.snapshot().peersChanged, strings.Join(words, ","))
}

// clusterStable answers with the cluster's key, if all that is asked is so.
func (n *Node) clusterStable(given parameters) string {
	n.mu.Lock()
	key, size := n.cluster.Key, len(n.cluster.Members)
	n.mu.Unlock()
	if !n.migrating.Load() {
		return errUnstable
	}
	if text, asked := given["size"]; asked {
		var wanted int
		if _, err := fmt.Sscanf(text+" ", "%d ", &wanted); err != nil {
			return "ERROR:4:bad size"
		}
		if wanted != size {
			return "ERROR:7:cluster not specified size"
		}
	}
	ignore, asked := given["ignore-migrations"]
	if asked && !slices.Contains([]string{"true", "false"}, ignore) {
		return "ERROR:4:bad ignore migrations"
	}
	if ignore != "true" {
		if ns, asked := given["namespace"]; asked && ns != n.conf.Namespace.Name {
			return "ERROR:20:namespace not found on node"
		}
		if out, in := n.moves.remaining(); out+in > 0 {
			return errUnstable
		}
	}
	return fmt.Sprintf("%X", key)
}

// quiesce takes effect with the next cluster, as the Enterprise Edition's does.
func (n *Node) quiesce() string { return n.setPending(true) }

func (n *Node) unquiesce() string { return n.setPending(false) }

func (n *Node) setPending(pending bool) string {
	if !n.options.Enterprise {
		return errEnterprise
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.pending = pending
	if pending {
		n.log.Info("info-command", "quiesced this node")
	} else {
		n.log.Info("info-command", "un-quiesced this node")
	}
	return "ok"
}

func (n *Node) truncateCommand(given parameters) string {
	if given["namespace"] != n.conf.Namespace.Name {
		return "ERROR:20:namespace not found on node"
	}
	if given["set"] == "" {
		return "ERROR:4:the stand-in truncates one set: give its name"
	}
	n.truncate(given["set"])
	return "ok"
}

func principalName(id nodeid.ID) string {
	if id == 0 {
		return "0"
	}
	return id.String()
}

func seconds(since time.Time) string { return fmt.Sprint(int(time.Since(since).Seconds())) }
