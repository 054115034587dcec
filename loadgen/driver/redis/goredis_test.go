package redis

import (
	"bytes"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// cutter stands before a server. Once it is told to, it passes a script on and, when the server has
// answered, closes the client's connection instead of giving it the answer.
type cutter struct{ next atomic.Bool }

func (c *cutter) serve(t *testing.T, address, server string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go c.pass(client, server)
		}
	}()
}

func (c *cutter) pass(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	go func() {
		defer client.Close()
		for buffer := make([]byte, 64<<10); ; {
			n, err := server.Read(buffer)
			if err != nil || cut.Load() {
				return
			}
			_, _ = client.Write(buffer[:n])
		}
	}()
	for buffer := make([]byte, 64<<10); ; {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte("EVAL")) && c.next.Swap(false) {
			cut.Store(true)
		}
		_, _ = server.Write(buffer[:n])
	}
}

func TestWhatAddsIsNotSentAgainByTheClientItself(t *testing.T) {
	t.Parallel()
	fronts := map[string]func(t *testing.T, c *cutter) (driver.Config, *drivertest.Server){
		"cluster": func(t *testing.T, c *cutter) (driver.Config, *drivertest.Server) {
			front := drivertest.FreeAddresses(t, 1)[0]
			_, port, _ := net.SplitHostPort(front)
			all := ownCluster(t, 1, 0, driver.TLS{}, "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", port)
			c.serve(t, front, all.servers[0].Address)
			return all.config(t), all.servers[0].Server
		},
		"Sentinel": func(t *testing.T, c *cutter) (driver.Config, *drivertest.Server) {
			front, directory := drivertest.FreeAddresses(t, 1)[0], t.TempDir()
			server := startServer(t, filepath.Join(directory, "n1"), driver.TLS{})
			t.Cleanup(server.Kill)
			c.serve(t, front, server.Address)
			sentinel, _ := sentinelOf(t, directory, front)
			return underSentinel(t, sentinel, server), server
		},
	}
	for name, front := range fronts {
		t.Run(name, func(t *testing.T) {
			cut := &cutter{}
			config, server := front(t, cut)
			for i, client := range clients {
				d := drivertest.Opened(t, &Driver{}, config, with(client))
				count := driver.Op{Kind: driver.Increment, ID: driver.DataID(uint64(i)), Stream: 2}
				add := driver.Op{Kind: driver.Increment, Stream: 2, Document: &driver.Document{
					Set: driver.SetPlayers, ID: int64(i), Add: driver.Properties{{Name: "n", Value: int64(1)}},
				}}
				for op, asked := range map[*driver.Op][]string{
					&count: {"GET", d.keys().Key(false, count.ID)},
					&add:   {"HGET", d.keys().Document(driver.SetPlayers, int64(i)), "n"},
				} {
					if got := do(t, d, *op); got.Class != driver.OK {
						t.Fatalf("%s: got %+v", client, got)
					}
					cut.next.Store(true)
					got := do(t, d, *op)
					stored, err := (&cluster{}).ask(t, server, asked...)
					if got.Class != driver.InDoubt || got.Attempts != 1 || stored != "2" || err != nil || cut.next.Load() {
						t.Errorf("%s, %s: it is %v after two: %+v, %v", client, asked[0], stored, got, err)
					}
				}
			}
		})
	}
}
