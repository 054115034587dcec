package mongodb

import (
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A lane is the server that the driver would select now:
//
//	writes, reads from the primary   the primary's address
//	reads from secondaries           "secondaries": the driver picks one at random
//	reads from the nearest member    "members", likewise
//	through a router (mongos)        the shard of the key and, in it, the above:
//	                                 "s1/10.0.0.7:27018"; a batch over several: "shards"
//	of a key that tells no shard     "routers"
//	nothing to select                "unrouted"
//
// The knowledge is the driver's own: the changes it reports of its topology.
const (
	laneUnrouted    = "unrouted"
	laneSecondaries = "secondaries"
	laneMembers     = "members"
	laneRouters     = "routers"
)

// view is what the driver knows of the cluster, boiled down to lanes.
type view struct {
	primary     string // address, or "" if there is none
	secondaries bool
	routers     bool
}

// viewOf reads a topology as the driver describes it.
func viewOf(topology event.TopologyDescription) *view {
	v := &view{}
	for _, server := range topology.Servers {
		switch server.Kind {
		case "RSPrimary", "Standalone", "LoadBalancer":
			v.primary = server.Addr.String()
		case "RSSecondary":
			v.secondaries = true
			// A direct connection uses its one server whatever its role.
			if topology.Kind == "Single" {
				v.primary = server.Addr.String()
			}
		case "Mongos":
			v.routers = true
		}
	}
	return v
}

// lane names the failure domain of an operation that selects by mode.
func (v *view) lane(mode readpref.Mode) string {
	if v.routers {
		return laneRouters
	}
	secondaries, primary := "", v.primary
	if v.secondaries {
		secondaries = laneSecondaries
	}
	switch mode {
	case readpref.PrimaryMode:
		return first(primary, laneUnrouted)
	case readpref.PrimaryPreferredMode:
		return first(primary, secondaries, laneUnrouted)
	case readpref.SecondaryMode:
		return first(secondaries, laneUnrouted)
	case readpref.SecondaryPreferredMode:
		return first(secondaries, primary, laneUnrouted)
	}
	if primary == "" && secondaries == "" {
		return laneUnrouted
	}
	return laneMembers
}

func first(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}

// watcher keeps the latest view of one client.
type watcher struct{ current atomic.Pointer[view] }

func newWatcher() *watcher {
	w := &watcher{}
	w.current.Store(&view{})
	return w
}

// monitor is what the driver calls at every change.
func (w *watcher) monitor() *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			w.current.Store(viewOf(e.NewDescription))
		},
	}
}
