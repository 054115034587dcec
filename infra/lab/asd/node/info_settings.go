package node

import "strconv"

const errSetting = "ERROR:4:invalid set-config parameter"

// setting is one that may be changed while the server runs: from and to, and what changing it does.
type setting struct {
	low, high int
	set       func(*Node, int)
}

// settings are all of them, by their context and name. The replication factor counts from the next
// cluster on, the others at once.
var settings = map[string]map[string]setting{
	"service": {
		"migrate-threads":          {0, 100, func(n *Node, to int) { n.threads.resize(to) }},
		"migrate-max-num-incoming": {0, 256, func(n *Node, to int) { n.maxIncoming.Store(int64(to)) }},
	},
	"namespace": {
		"migrate-sleep":      {0, 1<<31 - 1, func(n *Node, to int) { n.sleep.Store(int64(to)) }},
		"replication-factor": {1, 256, func(n *Node, to int) { n.factor.Store(int64(to)) }},
	},
}

// setConfig changes a setting.
func (n *Node) setConfig(given parameters) string {
	context := given["context"]
	if context == "namespace" && given["namespace"]+given["id"] != n.conf.Namespace.Name {
		return "ERROR:20:namespace not found on node"
	}
	for name, s := range settings[context] {
		text, asked := given[name]
		if !asked {
			continue
		}
		to, err := strconv.Atoi(text)
		if err != nil || to < s.low || to > s.high {
			return errSetting
		}
		n.log.Info("info", "Changing value of %s to %d", name, to)
		s.set(n, to)
		return "ok"
	}
	return errSetting
}
