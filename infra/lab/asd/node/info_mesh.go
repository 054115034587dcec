package node

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"brownout/infra/lab/asd/nodeid"
)

// tip tells the node of another one's heartbeat address; it dials that for ever.
func (n *Node) tip(given parameters) string {
	for _, name := range []string{"host", "port"} {
		if given[name] == "" {
			return fmt.Sprintf("ERROR:4:missing '%s'", name)
		}
	}
	port, err := strconv.Atoi(given["port"])
	if err != nil {
		return "ERROR:4:'port' must be an integer"
	}
	address := net.JoinHostPort(given["host"], given["port"])
	if port <= 0 || port > 65535 || !n.dialing.Add(address) {
		return "ERROR::unknown"
	}
	n.log.Info("hb", "added new mesh seed %s", address)
	return "ok"
}

// tipClear has the node forget heartbeat addresses, those of its configuration too.
func (n *Node) tipClear(given parameters) string {
	list := given["host-port-list"]
	if list == "" {
		return "ERROR:4:missing 'host-port-list'"
	}
	cleared, missing := 0, 0
	for _, address := range strings.Split(list, ",") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Sprintf("ERROR::%d cleared, %d not found", cleared, missing)
		}
		if n.dialing.Remove(address) {
			n.log.Info("hb", "removed mesh seed host:%s", address)
			cleared++
		} else {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("ERROR::%d cleared, %d not found", cleared, missing)
	}
	return "ok"
}

// alumni returns every peer that the node remembers, by id.
func (n *Node) alumni() []peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []peer
	for _, p := range n.state.alumni {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b peer) int { return int(a.id) - int(b.id) })
	return all
}

// resetAlumni forgets the former peers.
func (n *Node) resetAlumni() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := map[nodeid.ID]peer{}
	for _, p := range n.state.peers {
		now[p.id] = p
	}
	if len(now) < len(n.state.alumni) {
		n.state.peersChanged++
	}
	n.state.alumni = now
	return "ok"
}

// racks writes who is on which rack, as the last cluster has it: `ns=test:rack_1=A3,A1:rack_2=A2`.
func (n *Node) racks(given parameters) string {
	if !n.options.Enterprise {
		return errEnterprise
	}
	name, asked := given["namespace"]
	if asked && name != n.conf.Namespace.Name {
		return "ERROR:20:namespace not found on node"
	}
	members := map[int][]nodeid.ID{}
	n.mu.Lock()
	for id, rack := range n.state.racks {
		members[rack] = append(members[rack], id)
	}
	n.mu.Unlock()
	var words []string
	for rack, ids := range members {
		written := nodeid.Join(nodeid.Descending(ids), ",", nodeid.ID.String)
		words = append(words, fmt.Sprintf("rack_%d=%s", rack, written))
	}
	slices.Sort(words)
	if asked {
		return strings.Join(words, ":")
	}
	return "ns=" + n.conf.Namespace.Name + ":" + strings.Join(words, ":")
}

// rackID writes the node's own rack by namespace.
func (n *Node) rackID() string {
	if !n.options.Enterprise {
		return errEnterprise
	}
	return fmt.Sprintf("%s:%d", n.conf.Namespace.Name, n.conf.Namespace.Rack)
}
