package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// watched is a master and its replica, in that order, and the sentinel that watches both.
func watched(t *testing.T) (servers []*drivertest.Server, config driver.Config) {
	t.Helper()
	directory := t.TempDir()
	for i := range 2 {
		arguments := []string{"--repl-diskless-sync-delay", "0"}
		if i > 0 {
			host, port, _ := net.SplitHostPort(servers[0].Address)
			arguments = append(arguments, "--replicaof", host+" "+port)
		}
		servers = append(servers, startServer(t, filepath.Join(directory, fmt.Sprintf("n%d", i+1)), driver.TLS{}, arguments...))
		t.Cleanup(servers[i].Kill)
	}
	c := &cluster{}
	drivertest.Until(t, "the replica is linked", func() bool {
		info, _ := c.ask(t, servers[1], "INFO", "replication")
		return strings.Contains(fmt.Sprint(info), "master_link_status:up")
	})
	sentinel, direct := sentinelOf(t, directory, servers[0].Address)
	drivertest.Until(t, "the sentinel knows the replica", func() bool {
		known, _ := direct.Do(t.Context(), direct.B().Arbitrary("SENTINEL", "REPLICAS", "orders").Build()).ToAny()
		return strings.Contains(fmt.Sprint(known), "flags:slave ")
	})
	return servers, underSentinel(t, sentinel, servers...)
}

// sentinelOf starts a sentinel that watches the master at an address, and returns it with a client of it.
func sentinelOf(t *testing.T, directory, master string) (*drivertest.Server, valkey.Client) {
	t.Helper()
	address := drivertest.FreeAddresses(t, 1)[0]
	host, port, _ := net.SplitHostPort(master)
	_, own, _ := net.SplitHostPort(address)
	file := filepath.Join(directory, "sentinel.conf")
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor orders %s %s 1\n"+
		"sentinel down-after-milliseconds orders 600\nrequirepass let-me-in\n", own, host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := &drivertest.Server{Address: address, Command: func() *exec.Cmd {
		return exec.Command(drivertest.Binary(t, "BROWNOUT_REDIS"), file, "--sentinel")
	}}
	sentinel.Start(t)
	t.Cleanup(sentinel.Kill)
	var direct valkey.Client
	drivertest.Until(t, "the sentinel answers", func() bool {
		var err error
		direct, err = valkey.NewClient(valkey.ClientOption{
			InitAddress: []string{address}, Username: "default", Password: "let-me-in", ForceSingleClient: true, DisableCache: true,
		})
		return err == nil
	})
	t.Cleanup(direct.Close)
	return sentinel, direct
}

// underSentinel is the configuration of a driver that asks a sentinel for the master among the servers.
func underSentinel(t *testing.T, sentinel *drivertest.Server, servers ...*drivertest.Server) driver.Config {
	t.Helper()
	addresses := make([]string, len(servers))
	for i, s := range servers {
		addresses[i] = s.Address
	}
	config := drivertest.Config(t, "redis://"+strings.Join(addresses, ","))
	config.Sentinel = &driver.Sentinel{
		Master: "orders", Addresses: []string{sentinel.Address}, Username: "default", Password: "let-me-in",
	}
	config.Streams = append(config.Streams, driver.StreamConfig{
		Name: "retrying", DeadlineS: 1, Retries: driver.RetriesDriverDefault,
	})
	return config
}

func TestUnderSentinelWritesFollowTheMaster(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			servers, config := watched(t)
			d := drivertest.Opened(t, &Driver{}, config, func(c *driver.Config) {
				c.Options = map[string]any{"client": client}
				if client == valkeyGo { // it may miss that a sentinel tells of another master
					c.Options["refresh_ms"] = 500
				}
			})
			if got := do(t, d, update("v")); got.Class != driver.OK || got.Attempts != 1 {
				t.Fatalf("got %+v", got)
			}
			op := update("v")
			if lane := d.Lane(&op); lane != laneMaster {
				t.Errorf("the lane is %s", lane)
			}
			drivertest.Until(t, "both have the copies", func() bool {
				copies, err := d.Copies(t.Context())
				for _, each := range copies {
					each.Close()
				}
				return err == nil && len(copies) == 2
			})
			servers[0].Kill()
			drivertest.Until(t, "the write is refused before it is sent, or in doubt", func() bool {
				got := do(t, d, update("v"))
				if got.Class == driver.OK {
					return false
				}
				if got.Class == driver.Failed && got.Sent && got.Cause != driver.CauseNotPrimary {
					t.Errorf("got %+v", got)
				}
				return true
			})
			drivertest.Until(t, "the replica is written to", func() bool { return do(t, d, update("v")).Class == driver.OK })
			if _, err := (&cluster{}).ask(t, servers[1], "PING"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnderSentinelReadsMayAskReplicas(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			servers, config := watched(t)
			d := drivertest.Opened(t, &Driver{}, config, func(c *driver.Config) {
				c.Options = map[string]any{"client": client, "read_from": fromReplica}
			})
			if got := do(t, d, update("v")); got.Class != driver.OK {
				t.Fatalf("got %+v", got)
			}
			before := gets(t, servers[1])
			drivertest.Until(t, "the replica has it", func() bool {
				got := do(t, d, driver.Op{Kind: driver.Read, ID: update("v").ID, Verified: update("v").Verified})
				return got.Class == driver.OK && got.Found
			})
			if after := gets(t, servers[1]); after == before {
				t.Errorf("the replica was asked for nothing: %s", after)
			}
		})
	}
}

// gets is what a server says of the reads that it did.
func gets(t *testing.T, s *drivertest.Server) string {
	t.Helper()
	info, err := (&cluster{}).ask(t, s, "INFO", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(fmt.Sprint(info), "\r\n") {
		if strings.HasPrefix(line, "cmdstat_get:") {
			return line
		}
	}
	return ""
}

func TestSentinelsThatDoNotKnowTheMasterAreNamedAndTheirPasswordIsNot(t *testing.T) {
	t.Parallel()
	_, config := watched(t)
	config.Sentinel.Master = "unknown"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	d := &Driver{}
	defer d.Close()
	err := d.Open(ctx, config)
	if err == nil || !strings.Contains(err.Error(), config.Sentinel.Addresses[0]) {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{err, redacted(errors.New("tried let-me-in"), config)} {
		if strings.Contains(err.Error(), "let-me-in") {
			t.Error(err)
		}
	}
}

func TestWithoutASentinelNothingIsSent(t *testing.T) {
	undiscovered := &noMasterError{errors.New("all sentinels are unreachable")}
	if j := judge(fmt.Errorf("dial: %w", undiscovered)); j.doubt || j.sent || j.cause != driver.CauseNoNode {
		t.Errorf("got %+v", j)
	}
	if j := judge(&noMasterError{errDial}); j.cause != driver.CauseConnectRefused || j.doubt {
		t.Errorf("got %+v", j)
	}
}

func TestTheAnswerToROLEOfAMasterIsOneShard(t *testing.T) {
	seen, err := parseRole("10.0.0.1:6379", []any{"master", int64(7), []any{[]any{"fd00::2", "6379", "7"}}})
	if err != nil || len(seen.shards) != 1 || seen.owners[slots-1].lane != laneMaster {
		t.Fatalf("got %+v, %v", seen, err)
	}
	holders, err := seen.holders()
	if err != nil || len(holders) != 2 || holders[1].address != "[fd00::2]:6379" || !holders[1].has[0] {
		t.Errorf("got %+v, %v", holders, err)
	}
	for _, wrong := range []any{nil, "x", []any{"slave", "h", int64(1), "connected", int64(3)}, []any{"master", int64(7), []any{"x"}}} {
		if _, err := parseRole("10.0.0.1:6379", wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
