package etcd

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// server is a real member: a process of its own.
type server struct {
	name      string
	address   string
	arguments []string
	process   *exec.Cmd
	output    *bytes.Buffer
	gone      chan struct{}
}

// cluster is some members that know each other.
type cluster struct {
	directory string
	servers   []*server
}

var shared struct {
	sync.Mutex
	cluster *cluster
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.kill()
		_ = os.RemoveAll(shared.cluster.directory)
	}
	os.Exit(code)
}

// sharedCluster returns the member that all tests share which leave it running.
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		directory, err := os.MkdirTemp("", "brownout-etcd-")
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = startCluster(t, directory, 1)
	}
	return shared.cluster
}

// ownCluster returns so many members for one test, with more arguments.
func ownCluster(t testing.TB, members int, arguments ...string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), members, arguments...)
	t.Cleanup(c.kill)
	return c
}

func startCluster(t testing.TB, directory string, members int, arguments ...string) *cluster {
	t.Helper()
	binary := os.Getenv("BROWNOUT_ETCD")
	if binary == "" {
		t.Skip("BROWNOUT_ETCD is not set: no real server to test against")
	}
	addresses := freeAddresses(t, 2*members)
	scheme := "http://"
	if strings.Contains(strings.Join(arguments, " "), "--cert-file") {
		scheme = "https://"
	}
	c, all := &cluster{directory: directory}, make([]string, members)
	for i := range members {
		all[i] = fmt.Sprintf("n%d=http://%s", i+1, addresses[members+i])
	}
	for i := range members {
		name, client, peer := fmt.Sprintf("n%d", i+1), addresses[i], addresses[members+i]
		s := &server{name: name, address: client, arguments: append([]string{
			binary, "--name", name, "--data-dir", filepath.Join(directory, name),
			"--listen-client-urls", scheme + client, "--advertise-client-urls", scheme + client,
			"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer,
			"--initial-cluster", strings.Join(all, ","), "--initial-cluster-state", "new",
			"--heartbeat-interval", "50", "--election-timeout", "500",
			"--unsafe-no-fsync", "--log-level", "error",
		}, arguments...)}
		s.start(t)
		c.servers = append(c.servers, s)
	}
	return c
}

func freeAddresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		addresses[i] = listener.Addr().String()
	}
	return addresses
}

func (s *server) start(t testing.TB) {
	t.Helper()
	s.output, s.gone = &bytes.Buffer{}, make(chan struct{})
	s.process = exec.Command(s.arguments[0], s.arguments[1:]...)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		t.Fatalf("starting %s: %v", s.arguments[0], err)
	}
	go func() {
		_ = s.process.Wait()
		close(s.gone)
	}()
}

func (s *server) kill() {
	_ = s.process.Process.Kill()
	<-s.gone
}

func (s *server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kill() {
	for _, s := range c.servers {
		s.kill()
	}
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.address
	}
	return "etcd://" + strings.Join(addresses, ",")
}

// at returns the member with that address.
func (c *cluster) at(t testing.TB, address string) *server {
	t.Helper()
	for _, s := range c.servers {
		if s.address == address {
			return s
		}
	}
	t.Fatalf("no member is at %q", address)
	return nil
}

// leader waits until a member says that it leads, and returns it and one that does not.
func (c *cluster) leader(t testing.TB) (leader, follower *server) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		leader, follower = nil, nil
		for _, s := range c.servers {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			said, err := c.direct(t, s).Status(ctx, s.address)
			cancel()
			switch {
			case err != nil:
			case said.Leader == said.Header.MemberId:
				leader = s
			default:
				follower = s
			}
		}
		if leader != nil && (follower != nil || len(c.servers) == 1) {
			return leader, follower
		}
	}
	t.Fatal("no member leads after 30 s")
	return nil, nil
}

// direct returns a client of one member, for what a test does behind the driver's back.
func (c *cluster) direct(t testing.TB, s *server) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	config := driver.Config{
		URI: c.uri(), Namespace: namespace(t), Writer: "run-1",
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
		},
	}
	if change != nil {
		change(&config)
	}
	d := &Driver{}
	t.Cleanup(d.Close)
	if err := d.Open(t.Context(), config); err != nil {
		t.Fatalf("%v\n%s", err, c.servers[0].output)
	}
	return d
}

func namespace(t testing.TB) string { return strings.ReplaceAll(t.Name(), "/", "-") }

var do = drivertest.Do

// put stores a value behind the driver's back, and get reads it.
func put(t testing.TB, d *Driver, key, value string) {
	t.Helper()
	if _, err := d.members[0].client.Load().Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, d *Driver, key string) string {
	t.Helper()
	got, err := d.members[0].client.Load().Get(t.Context(), key)
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("%s: %v, %v", key, got, err)
	}
	return string(got.Kvs[0].Value)
}

func remove(t testing.TB, d *Driver, key string) {
	t.Helper()
	if gone, err := d.members[0].client.Load().Delete(t.Context(), key); err != nil || gone.Deleted != 1 {
		t.Fatalf("%s: %v, %v", key, gone, err)
	}
}

// update is a write of sequence 2 to the first ledger key.
func update(value string) driver.Op {
	id := driver.LedgerID("orders", false, 0)
	return driver.Op{
		Kind: driver.Update, Stream: 1, ID: id, Verified: true, Value: []byte(value),
		Record: driver.NewRecord("run-1", id, 2, []byte(value)),
	}
}
