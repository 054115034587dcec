package node

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"brownout/infra/lab/asd/answers"
)

// getConfig answers with the settings of one context.
func (n *Node) getConfig(given parameters) string {
	switch given["context"] {
	case "service":
		return answers.ServiceConfig.Render(map[string]string{
			"cluster-name":             n.conf.ClusterName,
			"node-id":                  n.self.String(),
			"pidfile":                  n.conf.PidFile,
			"work-directory":           filepath.Dir(n.conf.LogFile),
			"run-as-daemon":            "false",
			"migrate-threads":          fmt.Sprint(n.threads.size()),
			"migrate-max-num-incoming": fmt.Sprint(n.maxIncoming.Load()),
		})
	case "network":
		return n.networkSettings()
	case "namespace":
		name := given["namespace"]
		if name == "" {
			name = given["id"]
		}
		if name != n.conf.Namespace.Name {
			return "ERROR:20:namespace not found on node"
		}
		return answers.NamespaceConfig.Render(n.namespaceSettings())
	}
	return "ERROR:4:invalid context"
}

func (n *Node) namespaceSettings() map[string]string {
	ns := n.conf.Namespace
	return map[string]string{
		"replication-factor":                  fmt.Sprint(n.factor.Load()),
		"rack-id":                             fmt.Sprint(ns.Rack),
		"migrate-sleep":                       fmt.Sprint(n.sleep.Load()),
		"transaction-pending-limit":           fmt.Sprint(ns.PendingLimit),
		"storage-engine.file[0]":              ns.File,
		"storage-engine.filesize":             fmt.Sprint(ns.FileSize),
		"storage-engine.flush-max-ms":         fmt.Sprint(ns.FlushMax.Milliseconds()),
		"storage-engine.stop-writes-used-pct": fmt.Sprint(ns.StopWrites),
	}
}

func (n *Node) networkSettings() string {
	live := map[string]string{
		"heartbeat.interval":     fmt.Sprint(n.conf.Interval.Milliseconds()),
		"heartbeat.timeout":      fmt.Sprint(n.conf.Timeout),
		"service.access-address": n.conf.Service.Access,
		"admin.address":          "null",
		"admin.port":             "0",
	}
	for name, listen := range map[string]string{
		"service": n.conf.Service.Listen(), "heartbeat": n.conf.Heartbeat.Listen(), "fabric": n.conf.Fabric.Listen(),
	} {
		live[name+".address"], live[name+".port"], _ = net.SplitHostPort(listen)
	}
	var seeds strings.Builder
	for _, seed := range n.dialing.Seeds() {
		fmt.Fprintf(&seeds, ";heartbeat.mesh-seed-address-port=%s", seed)
	}
	return answers.NetworkConfig.Render(live) + seeds.String()
}
