package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/secure"
)

// server is a real node: a process of its own.
type server struct {
	address   string
	directory string
	arguments []string
	process   *exec.Cmd
	output    *bytes.Buffer
	gone      chan struct{}
}

// cluster is masters, and after them as many replicas, the first of the first master.
type cluster struct {
	directory string
	servers   []*server
	masters   int
	tls       driver.TLS
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

// sharedCluster returns the masters that all tests share which leave them running.
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		directory, err := os.MkdirTemp("", "brownout-redis-")
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = startCluster(t, directory, 3, 0, driver.TLS{})
	}
	return shared.cluster
}

// ownCluster returns nodes for one test, with more arguments.
func ownCluster(t testing.TB, masters, replicas int, encrypted driver.TLS, arguments ...string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), masters, replicas, encrypted, arguments...)
	t.Cleanup(c.kill)
	return c
}

const nodeTimeoutMS = 1000

func startCluster(
	t testing.TB, directory string, masters, replicas int, encrypted driver.TLS, arguments ...string,
) *cluster {
	t.Helper()
	binary := os.Getenv("BROWNOUT_REDIS")
	if binary == "" {
		t.Skip("BROWNOUT_REDIS is not set: no real server to test against")
	}
	c := &cluster{directory: directory, masters: masters, tls: encrypted}
	for i := range masters + replicas {
		client, bus := freePort(t), freePort(t)
		own := filepath.Join(directory, fmt.Sprintf("n%d", i+1))
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		port := []string{"--port", client}
		if encrypted.Enabled {
			port = []string{"--port", "0", "--tls-port", client, "--tls-cluster", "yes", "--tls-replication", "yes"}
		}
		s := &server{address: "127.0.0.1:" + client, directory: own, arguments: append(append([]string{
			binary, "--bind", "127.0.0.1", "--dir", own, "--cluster-enabled", "yes", "--cluster-port", bus,
			"--cluster-node-timeout", strconv.Itoa(nodeTimeoutMS), "--save", "",
		}, port...), arguments...)}
		s.start(t)
		c.servers = append(c.servers, s)
	}
	c.form(t)
	return c
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
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

// ask asks one node behind the driver's back.
func (c *cluster) ask(t testing.TB, s *server, words ...string) (any, error) {
	t.Helper()
	encryption, err := secure.Config(c.tls)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{s.address}, ForceSingleClient: true, DisableCache: true, TLSConfig: encryption,
	})
	if err != nil {
		return nil, err
	}
	defer direct.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	value, err := direct.Do(ctx, direct.B().Arbitrary(words...).Build()).ToAny()
	if valkey.IsValkeyNil(err) {
		err = nil
	}
	return value, err
}

func until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 60 s: %s", what)
		}
	}
}

// form makes one cluster of the nodes.
func (c *cluster) form(t testing.TB) {
	t.Helper()
	must := func(s *server, words ...string) any {
		t.Helper()
		value, err := c.ask(t, s, words...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, s.output)
		}
		return value
	}
	for i, s := range c.servers {
		until(t, s.address+" answers", func() bool { _, err := c.ask(t, s, "PING"); return err == nil })
		if i < c.masters {
			first, last := i*slots/c.masters, (i+1)*slots/c.masters-1
			must(s, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
			must(s, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		}
		host, port, _ := net.SplitHostPort(c.servers[0].address)
		if i > 0 {
			bus := s.busOf(c.servers[0])
			must(s, "CLUSTER", "MEET", host, port, bus)
		}
	}
	for i, s := range c.servers[c.masters:] {
		master := must(c.servers[i], "CLUSTER", "MYID").(string)
		until(t, "a replica knows its master", func() bool {
			_, err := c.ask(t, s, "CLUSTER", "REPLICATE", master)
			return err == nil
		})
		until(t, "a replica is linked", func() bool {
			info, _ := c.ask(t, s, "INFO", "replication")
			return strings.Contains(fmt.Sprint(info), "master_link_status:up")
		})
	}
	until(t, "every node sees all slots", func() bool {
		for _, s := range c.servers {
			info, err := c.ask(t, s, "CLUSTER", "INFO")
			if err != nil || !strings.Contains(fmt.Sprint(info), "cluster_state:ok") {
				return false
			}
		}
		return true
	})
}

func (*server) busOf(other *server) string {
	for i, word := range other.arguments {
		if word == "--cluster-port" {
			return other.arguments[i+1]
		}
	}
	return ""
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.address
	}
	return "redis://" + strings.Join(addresses, ",")
}

// owner returns the master that has a key, as the driver's lanes were read.
func (c *cluster) owner(t testing.TB, d *Driver, key string) *server {
	t.Helper()
	for _, s := range c.servers {
		if of := d.owners[slotOf(key)]; of != nil && of.master == s.address {
			return s
		}
	}
	t.Fatalf("nobody has %q", key)
	return nil
}

// clients are what every test that needs no other option is done with.
var clients = []string{valkeyGo, goRedis}

func with(name string) func(*driver.Config) {
	return func(c *driver.Config) { c.Options = map[string]any{"client": name} }
}

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	config := driver.Config{
		URI: c.uri(), Namespace: namespace(t), Writer: "run-1", TLS: c.tls,
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
			{Name: "retrying", DeadlineS: 1, Retries: driver.RetriesDriverDefault},
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

// direct does a command behind the load's back.
func direct(t testing.TB, d *Driver, asked command) any {
	t.Helper()
	c, err := d.control()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	value, err := c.one(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func put(t testing.TB, d *Driver, key, value string) {
	t.Helper()
	direct(t, d, write("SET", key, value))
}

func get(t testing.TB, d *Driver, key string) string {
	t.Helper()
	value, there := direct(t, d, read("GET", key)).(string)
	if !there {
		t.Fatalf("%s is not there", key)
	}
	return value
}

func remove(t testing.TB, d *Driver, key string) {
	t.Helper()
	if direct(t, d, write("DEL", key)) != int64(1) {
		t.Fatalf("%s is not there", key)
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

var errDial = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
var errOther = errors.New("something new")
