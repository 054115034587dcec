package conf

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// Config is all that the stand-in follows of its configuration file.
type Config struct {
	Node        nodeid.ID
	ClusterName string
	PidFile     string
	LogFile     string

	Service   Endpoint
	Heartbeat Endpoint
	Fabric    Endpoint
	Seeds     []string
	Interval  time.Duration // between heartbeats
	Timeout   int           // how many may be missing

	MigrateThreads     int
	MigrateMaxIncoming int
	TransactionMax     time.Duration // for a client that gives none
	TransactionRetry   time.Duration // until a replica write is sent again

	Namespace Namespace
}

// Endpoint is where a node listens, and what it tells others of it.
type Endpoint struct {
	Address, Access string
	Port            int
}

// Listen returns the address to listen on.
func (e Endpoint) Listen() string { return net.JoinHostPort(e.Address, strconv.Itoa(e.Port)) }

// Public returns the address that others are told.
func (e Endpoint) Public() string {
	host := e.Access
	if host == "" {
		host = e.Address
	}
	return net.JoinHostPort(host, strconv.Itoa(e.Port))
}

// Namespace is the one namespace that there is.
type Namespace struct {
	Name         string
	Replication  int
	Rack         int // Enterprise only; 0 means no rack
	PendingLimit int
	MigrateSleep time.Duration
	File         string
	FileSize     int64
	FlushMax     time.Duration
	StopWrites   int // per cent of the file in use
}

// Load reads the configuration file at path.
func Load(path string) (Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer file.Close()
	root, err := parse(file)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	c, problems := read(root)
	if len(problems) > 0 {
		return Config{}, fmt.Errorf("%s: %s", path, strings.Join(problems, "; "))
	}
	return c, nil
}

func read(root *block) (Config, []string) {
	r := &reader{}
	var c Config
	service := r.only(root, "service")
	id, err := nodeid.Parse(r.text(service, "node-id", ""))
	if err != nil {
		r.problem("%v", err)
	}
	c.Node, c.ClusterName = id, r.text(service, "cluster-name", "null")
	c.PidFile = r.text(service, "pidfile", "")
	c.MigrateThreads = r.number(service, "migrate-threads", 1)
	c.MigrateMaxIncoming = r.number(service, "migrate-max-num-incoming", 4)
	c.TransactionMax = r.duration(service, "transaction-max-ms", 1000, time.Millisecond)
	c.TransactionRetry = r.duration(service, "transaction-retry-ms", 1002, time.Millisecond)
	c.LogFile = r.logFile(r.only(root, "logging"))
	r.network(r.only(root, "network"), &c)
	c.Namespace = r.namespace(r.only(root, "namespace"))
	r.finish(root)
	return c, r.problems
}
