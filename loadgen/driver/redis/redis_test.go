package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/secure"
)

// server is a node; its bus is the port at which it talks to the others.
type server struct {
	*drivertest.Server
	bus string
}

// cluster is masters, and after them as many replicas, the first of the first master.
type cluster struct {
	servers []*server
	masters int
	tls     driver.TLS
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// sharedCluster returns the masters that all tests share which leave them running.
var sharedCluster = drivertest.Shared(func(t testing.TB, directory string) *cluster {
	return startCluster(t, directory, 3, 0, driver.TLS{})
})

// ownCluster returns nodes for one test, with more arguments.
func ownCluster(t testing.TB, masters, replicas int, encrypted driver.TLS, arguments ...string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), masters, replicas, encrypted, arguments...)
	t.Cleanup(c.Kill)
	return c
}

const nodeTimeoutMS = 1000

func startCluster(
	t testing.TB, directory string, masters, replicas int, encrypted driver.TLS, arguments ...string,
) *cluster {
	t.Helper()
	c := &cluster{masters: masters, tls: encrypted}
	defer func() { // nothing else ends them if they do not form a cluster
		if t.Failed() {
			c.Kill()
		}
	}()
	for i := range masters + replicas {
		_, bus, _ := net.SplitHostPort(drivertest.FreeAddresses(t, 1)[0])
		s := &server{startServer(t, filepath.Join(directory, fmt.Sprintf("n%d", i+1)), encrypted, append([]string{
			"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", strconv.Itoa(nodeTimeoutMS),
			"--repl-diskless-sync-delay", "0", // its own 5 s wait for more replicas
		}, arguments...)...), bus}
		c.servers = append(c.servers, s)
	}
	c.form(t)
	return c
}

func startServer(t testing.TB, directory string, encrypted driver.TLS, arguments ...string) *drivertest.Server {
	t.Helper()
	binary := drivertest.Binary(t, "BROWNOUT_REDIS")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	address := drivertest.FreeAddresses(t, 1)[0]
	_, client, _ := net.SplitHostPort(address)
	port := []string{"--port", client}
	if encrypted.Enabled {
		port = []string{"--port", "0", "--tls-port", client, "--tls-cluster", "yes", "--tls-replication", "yes"}
	}
	s := &drivertest.Server{Address: address, Command: func() *exec.Cmd {
		return exec.Command(binary, append(append([]string{
			"--bind", "127.0.0.1", "--dir", directory, "--save", "",
		}, port...), arguments...)...)
	}}
	s.Start(t)
	return s
}

func (c *cluster) Kill() {
	for _, s := range c.servers {
		s.Kill()
	}
}

// ask asks one node behind the driver's back.
func (c *cluster) ask(t testing.TB, s *drivertest.Server, words ...string) (any, error) {
	t.Helper()
	encryption, err := secure.Config(c.tls)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{s.Address}, ForceSingleClient: true, DisableCache: true, TLSConfig: encryption,
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

// form makes one cluster of the nodes.
func (c *cluster) form(t testing.TB) {
	t.Helper()
	must := func(s *server, words ...string) any {
		t.Helper()
		value, err := c.ask(t, s.Server, words...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, s.Output)
		}
		return value
	}
	for i, s := range c.servers {
		drivertest.Until(t, s.Address+" answers", func() bool { _, err := c.ask(t, s.Server, "PING"); return err == nil })
		if i < c.masters {
			first, last := i*slots/c.masters, (i+1)*slots/c.masters-1
			must(s, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last))
			must(s, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		}
		for _, met := range c.servers[:i] { // each by itself: to hear of each other takes them seconds
			host, port, _ := net.SplitHostPort(met.Address)
			must(s, "CLUSTER", "MEET", host, port, met.bus)
		}
	}
	for i, s := range c.servers[c.masters:] {
		master := must(c.servers[i], "CLUSTER", "MYID").(string)
		drivertest.Until(t, "a replica knows its master", func() bool {
			_, err := c.ask(t, s.Server, "CLUSTER", "REPLICATE", master)
			return err == nil
		})
		drivertest.Until(t, "a replica is linked", func() bool {
			info, _ := c.ask(t, s.Server, "INFO", "replication")
			return strings.Contains(fmt.Sprint(info), "master_link_status:up")
		})
	}
	drivertest.Until(t, "every node sees all slots", func() bool {
		for _, s := range c.servers {
			info, err := c.ask(t, s.Server, "CLUSTER", "INFO")
			if err != nil || !strings.Contains(fmt.Sprint(info), "cluster_state:ok") {
				return false
			}
		}
		return true
	})
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.Address
	}
	return "redis://" + strings.Join(addresses, ",")
}

// owner returns the master that has a key, as the driver's lanes were read.
func (c *cluster) owner(t testing.TB, d *Driver, key string) *server {
	t.Helper()
	for _, s := range c.servers {
		if of := d.owners[slotOf(key)]; of != nil && of.master == s.Address {
			return s
		}
	}
	t.Fatalf("no node has %q", key)
	return nil
}

// clients are what every test that needs no other option is done with.
var clients = []string{valkeyGo, goRedis}

func with(name string) func(*driver.Config) {
	return func(c *driver.Config) { c.Options = map[string]any{"client": name} }
}

func blank() driver.Driver { return &Driver{} }

func (c *cluster) config(t testing.TB) driver.Config {
	config := drivertest.Config(t, c.uri())
	config.TLS = c.tls
	config.Streams = append(config.Streams, driver.StreamConfig{
		Name: "retrying", DeadlineS: 1, Retries: driver.RetriesDriverDefault,
	})
	return config
}

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, c.config(t), change)
}

var do = drivertest.Do

func update(value string) driver.Op { return drivertest.Update(0, value) }

var errDial = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
var errOther = errors.New("something new")
