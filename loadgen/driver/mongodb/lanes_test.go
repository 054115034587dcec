package mongodb

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/address"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

func described(kind string, servers ...string) event.TopologyDescription {
	topology := event.TopologyDescription{Kind: kind}
	for i, role := range servers {
		at := address.Address([]string{"a:1", "b:1", "c:1"}[i])
		topology.Servers = append(topology.Servers, event.ServerDescription{Addr: at, Kind: role})
	}
	return topology
}

func TestTheLaneIsTheServerThatWouldBeSelected(t *testing.T) {
	whole := described("ReplicaSetWithPrimary", "RSSecondary", "RSPrimary", "RSSecondary")
	headless := described("ReplicaSetNoPrimary", "RSSecondary", "Unknown", "RSSecondary")
	alone := described("ReplicaSetWithPrimary", "RSPrimary", "Unknown", "RSArbiter")
	dead := described("ReplicaSetNoPrimary", "Unknown", "Unknown", "RSGhost")
	cases := []struct {
		name     string
		topology event.TopologyDescription
		mode     readpref.Mode
		want     string
	}{
		{"the primary", whole, readpref.PrimaryMode, "b:1"},
		{"secondaries", whole, readpref.SecondaryMode, "secondaries"},
		{"secondaries if they can", whole, readpref.SecondaryPreferredMode, "secondaries"},
		{"the primary if it can", whole, readpref.PrimaryPreferredMode, "b:1"},
		{"the nearest", whole, readpref.NearestMode, "members"},
		{"no primary", headless, readpref.PrimaryMode, "unrouted"},
		{"no primary, secondary instead", headless, readpref.PrimaryPreferredMode, "secondaries"},
		{"no secondary", alone, readpref.SecondaryMode, "unrouted"},
		{"no secondary, primary instead", alone, readpref.SecondaryPreferredMode, "a:1"},
		{"no server", dead, readpref.PrimaryMode, "unrouted"},
		{"no server near", dead, readpref.NearestMode, "unrouted"},
		{"a single server", described("Single", "Standalone"), readpref.PrimaryMode, "a:1"},
		{"a secondary, directly", described("Single", "RSSecondary"), readpref.PrimaryMode, "a:1"},
		{"through routers", described("Sharded", "Mongos", "Mongos"), readpref.SecondaryMode, "routers"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if got := viewOf(test.topology).lane(test.mode); got != test.want {
				t.Errorf("got %q, wanted %q", got, test.want)
			}
		})
	}
}
