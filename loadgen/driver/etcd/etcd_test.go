package etcd

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// cluster is some members that know each other.
type cluster struct {
	servers []*drivertest.Server
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// sharedCluster returns the member that all tests share which leave it running.
var sharedCluster = drivertest.Shared(func(t testing.TB, directory string) *cluster {
	return startCluster(t, directory, 1)
})

// ownCluster returns so many members for one test, with more arguments.
func ownCluster(t testing.TB, members int, arguments ...string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), members, arguments...)
	t.Cleanup(c.Kill)
	return c
}

func startCluster(t testing.TB, directory string, members int, arguments ...string) *cluster {
	t.Helper()
	binary := drivertest.Binary(t, "BROWNOUT_ETCD")
	addresses := drivertest.FreeAddresses(t, 2*members)
	scheme := "http://"
	if slices.Contains(arguments, "--cert-file") {
		scheme = "https://"
	}
	c, all := &cluster{}, make([]string, members)
	for i := range members {
		all[i] = fmt.Sprintf("n%d=http://%s", i+1, addresses[members+i])
	}
	for i := range members {
		name, client, peer := fmt.Sprintf("n%d", i+1), addresses[i], addresses[members+i]
		s := &drivertest.Server{Address: client, Command: func() *exec.Cmd {
			return exec.Command(binary, append([]string{
				"--name", name, "--data-dir", filepath.Join(directory, name),
				"--listen-client-urls", scheme + client, "--advertise-client-urls", scheme + client,
				"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer,
				"--initial-cluster", strings.Join(all, ","), "--initial-cluster-state", "new",
				"--heartbeat-interval", "50", "--election-timeout", "500",
				"--unsafe-no-fsync", "--log-level", "error",
			}, arguments...)...)
		}}
		s.Start(t)
		c.servers = append(c.servers, s)
	}
	return c
}

func (c *cluster) Kill() {
	for _, s := range c.servers {
		s.Kill()
	}
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.Address
	}
	return "etcd://" + strings.Join(addresses, ",")
}

// leader waits until a member says that it leads, and returns it and one that does not.
func (c *cluster) leader(t testing.TB) (leader, follower *drivertest.Server) {
	t.Helper()
	drivertest.Until(t, "a member leads", func() bool {
		leader, follower = nil, nil
		for _, s := range c.servers {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			said, err := c.direct(t, s).Status(ctx, s.Address)
			cancel()
			switch {
			case err != nil:
			case said.Leader == said.Header.MemberId:
				leader = s
			default:
				follower = s
			}
		}
		return leader != nil && (follower != nil || len(c.servers) == 1)
	})
	return leader, follower
}

// direct returns a client of one member, for what a test does behind the driver's back.
func (c *cluster) direct(t testing.TB, s *drivertest.Server) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func blank() driver.Driver { return &Driver{} }

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, drivertest.Config(t, c.uri()), change)
}

var do = drivertest.Do

func update(value string) driver.Op { return drivertest.Update(0, value) }
