package aerospike

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// cluster is a cluster of real stand-in processes on loopback.
type cluster struct{ nodes []*node }

type node struct {
	*drivertest.Server
	port int
	home string
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// standIn builds the stand-in server once.
var standIn = drivertest.Shared(func(t testing.TB, directory string) string {
	return drivertest.StandIn(t, "asd", directory)
})

// sharedCluster returns the cluster of one node that all tests share which leave it running.
var sharedCluster = drivertest.Shared(func(t testing.TB, directory string) *cluster {
	return start(t, directory, 1)
})

// ownCluster returns a cluster for one test.
func ownCluster(t testing.TB, size int) *cluster {
	t.Helper()
	c := start(t, t.TempDir(), size)
	t.Cleanup(c.Kill)
	return c
}

func start(t testing.TB, directory string, size int) *cluster {
	t.Helper()
	server, c := standIn(t), &cluster{}
	addresses := drivertest.FreeAddresses(t, 3*size)
	ports := make([]int, len(addresses))
	for i, address := range addresses {
		_, port, _ := net.SplitHostPort(address)
		ports[i], _ = strconv.Atoi(port)
	}
	for i := range size {
		home := filepath.Join(directory, fmt.Sprintf("n%d", i+1))
		if err := os.MkdirAll(home, 0o755); err != nil {
			t.Fatal(err)
		}
		configure(t, home, ports, i)
		n := &node{&drivertest.Server{Address: addresses[3*i], Command: func() *exec.Cmd {
			return exec.Command(server, "-config-file", filepath.Join(home, "aerospike.conf"),
				"-migrate-record", "50us", "-migrate-partition", "50us")
		}}, ports[3*i], home}
		n.Start(t)
		c.nodes = append(c.nodes, n)
	}
	c.whole(t, size)
	return c
}

func configure(t testing.TB, home string, ports []int, i int) {
	t.Helper()
	seeds := ""
	for k := range len(ports) / 3 {
		if k != i {
			seeds += fmt.Sprintf("mesh-seed-address-port 127.0.0.1 %d\n", ports[3*k+1])
		}
	}
	endpoint := "address 127.0.0.1\nport %d\n"
	text := fmt.Sprintf("service {\nnode-id A%d\ncluster-name lab\n}\nlogging {\nfile %s/asd.log {\n}\n}\n"+
		"network {\nservice {\n"+endpoint+"}\nheartbeat {\n"+endpoint+"%sinterval 50\ntimeout 10\n}\n"+
		"fabric {\n"+endpoint+"}\n}\n"+
		"namespace test {\nstorage-engine device {\nfile %s/data\nfilesize 64M\nflush-max-ms 20\n}\n}\n",
		i+1, home, ports[3*i], ports[3*i+1], seeds, ports[3*i+2], home)
	if err := os.WriteFile(filepath.Join(home, "aerospike.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) Kill() {
	for _, n := range c.nodes {
		n.Kill()
	}
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addresses[i] = n.Address
	}
	return scheme + strings.Join(addresses, ",")
}

// whole waits until so many nodes are one cluster with nothing left to migrate.
func (c *cluster) whole(t testing.TB, size int) {
	t.Helper()
	command := fmt.Sprintf("cluster-stable:size=%d;ignore-migrations=false", size)
	drivertest.Until(t, command, func() bool {
		stable := 0
		for _, n := range c.nodes {
			if answer := n.info(command); answer != "" && !strings.HasPrefix(answer, "ERROR") {
				stable++
			}
		}
		return stable == size
	})
}

// info asks a node one command; "" if it does not answer.
func (n *node) info(command string) string {
	policy := client.NewClientPolicy()
	policy.Timeout = time.Second
	conn, err := client.NewConnection(policy, client.NewHost("127.0.0.1", n.port))
	if err != nil {
		return ""
	}
	defer conn.Close()
	answers, err := conn.RequestInfo(command)
	if err != nil {
		return ""
	}
	return answers[command]
}

func blank() driver.Driver { return &Driver{} }

// opened returns an open driver for sets of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, configFor(t, c), change)
}

func configFor(t testing.TB, c *cluster) driver.Config {
	t.Helper()
	config := drivertest.Config(t, c.uri())
	config.Options = map[string]any{"tend_interval_ms": 100}
	return config
}

var (
	do     = drivertest.Do
	update = drivertest.Update
)

func read(op driver.Op) driver.Op {
	return driver.Op{Kind: driver.Read, Stream: op.Stream, ID: op.ID, Verified: op.Verified}
}
