package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const good = `
service {
	cluster-name lab   # a comment
	node-id A3
	pidfile /run/asd.pid
	proto-fd-max 1024
}
logging { 
	file /var/log/asd.log {
		context any info
	}
}
network {
	service {
		address 127.0.0.1
		access-address 10.0.0.1
		port 3000
	}
	heartbeat {
		mode mesh
		address 127.0.0.1
		port 3002
		mesh-seed-address-port 127.0.0.1 3012
		mesh-seed-address-port 127.0.0.1 3022
		interval 100
		timeout 20
	}
	fabric {
		address 127.0.0.1
		port 3001
	}
	admin {
		address 127.0.0.1
		port 3003
	}
}
namespace test {
	replication-factor 3
	storage-engine device {
		file /data/test.dat
		filesize 64M
	}
}
`

func load(t *testing.T, text string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "aerospike.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestTheConfigurationIsReadAsTheRealServerWould(t *testing.T) {
	c, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	if c.Node != 0xA3 || c.ClusterName != "lab" || c.LogFile != "/var/log/asd.log" || c.PidFile != "/run/asd.pid" {
		t.Errorf("%+v", c)
	}
	if c.Service.Listen() != "127.0.0.1:3000" || c.Service.Public() != "10.0.0.1:3000" {
		t.Errorf("%+v", c.Service)
	}
	if len(c.Seeds) != 2 || c.Seeds[1] != "127.0.0.1:3022" || c.Interval != 100*time.Millisecond || c.Timeout != 20 {
		t.Errorf("%v %v %d", c.Seeds, c.Interval, c.Timeout)
	}
	n := c.Namespace
	if n.Name != "test" || n.Replication != 3 || n.File != "/data/test.dat" || n.FileSize != 64<<20 {
		t.Errorf("%+v", n)
	}
	if c.TransactionMax != time.Second || n.PendingLimit != 20 || n.FlushMax != time.Second || c.MigrateThreads != 1 {
		t.Error("the defaults are not the real server's")
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for name, c := range map[string]struct{ change, into, want string }{
		"an unknown setting": {"replication-factor 3", "replicaton-factor 3", "replicaton-factor"},
		"no node":            {"node-id A3", "", "node-id"},
		"no number":          {"port 3002", "port many", "many"},
		"never closed":       {"namespace test {", "namespace test {\n\tx {", "never closed"},
		"never opened":       {"namespace test {", "}\nnamespace test {", "without a {"},
		"in memory":          {"storage-engine device", "storage-engine memory", "memory"},
		"two namespaces":     {"namespace test {", "namespace other {\n}\nnamespace test {", "second `namespace`"},
		"no log":             {"file /var/log/asd.log", "console", "no `file`"},
	} {
		_, err := load(t, strings.Replace(good, c.change, c.into, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
