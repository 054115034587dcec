package conf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// longest bounds every duration: what is longer is a mistake.
const longest = 7 * 24 * time.Hour

// maxRack is the highest rack-id.
const maxRack = 1_000_000

// inert are settings of the real server that are accepted without any effect here.
var inert = []string{
	"proto-fd-max", "work-directory", "run-as-daemon", "user-path", "mode", "protocol", "mtu",
	"context", "log-millis", "admin.address", "admin.port", "connect-timeout-ms", "default-ttl",
}

// reader takes settings out of blocks and collects all problems; an unused setting is one.
type reader struct {
	problems []string
	taken    map[*block]map[string]bool
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// only returns the one block of a kind, an empty one if there is none.
func (r *reader) only(in *block, kind string) *block {
	var found *block
	for _, b := range in.blocks {
		if b.kind != kind {
			continue
		}
		if found != nil {
			r.problem("line %d: a second `%s`, the stand-in knows one", b.line, kind)
		}
		found = b
	}
	if found == nil {
		r.problem("no `%s`", kind)
		return &block{kind: kind, settings: map[string][]string{}}
	}
	return found
}

func (r *reader) all(b *block, name string) []string {
	if r.taken == nil {
		r.taken = map[*block]map[string]bool{}
	}
	if r.taken[b] == nil {
		r.taken[b] = map[string]bool{}
	}
	r.taken[b][name] = true
	return b.settings[name]
}

func (r *reader) text(b *block, name, otherwise string) string {
	values := r.all(b, name)
	if len(values) == 0 {
		return otherwise
	}
	return values[len(values)-1]
}

func (r *reader) number(b *block, name string, otherwise int) int {
	return int(r.size(b, name, int64(otherwise)))
}

func (r *reader) duration(b *block, name string, otherwise int, unit time.Duration) time.Duration {
	n := r.number(b, name, otherwise)
	if n > int(longest/unit) {
		r.problem("%s %d, wanted at most %v", name, n, longest)
		n = otherwise
	}
	return time.Duration(n) * unit
}

// size reads a number with K, M or G behind it.
func (r *reader) size(b *block, name string, otherwise int64) int64 {
	text := r.text(b, name, "")
	if text == "" {
		return otherwise
	}
	shift := strings.Index("KMG", strings.ToUpper(text[len(text)-1:]))
	digits := text
	if shift >= 0 {
		digits = text[:len(text)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>(10*(shift+1)) {
		r.problem("%s %q, wanted a number of at most 2^63", name, text)
		return otherwise
	}
	return n << (10 * (shift + 1))
}

func (r *reader) logFile(logging *block) string {
	for _, b := range logging.blocks {
		if b.kind == "file" {
			return b.name
		}
	}
	r.problem("no `file` in `logging`")
	return ""
}

func (r *reader) endpoint(b *block) Endpoint {
	e := Endpoint{
		Address: r.text(b, "address", ""), Access: r.text(b, "access-address", ""),
		Port: r.number(b, "port", 0),
	}
	if e.Address == "" || e.Port == 0 || e.Port > 65535 {
		r.problem("%s: wanted an address and a port up to 65535", b.kind)
	}
	return e
}

func (r *reader) network(b *block, c *Config) {
	c.Service = r.endpoint(r.only(b, "service"))
	c.Fabric = r.endpoint(r.only(b, "fabric"))
	beat := r.only(b, "heartbeat")
	c.Heartbeat = r.endpoint(beat)
	c.Interval = r.duration(beat, "interval", 150, time.Millisecond)
	c.Timeout = r.number(beat, "timeout", 10)
	for _, seed := range r.all(beat, "mesh-seed-address-port") {
		c.Seeds = append(c.Seeds, strings.Join(strings.Fields(seed), ":"))
	}
}

func (r *reader) namespace(b *block) Namespace {
	storage := r.only(b, "storage-engine")
	if storage.name != "device" {
		r.problem("storage-engine %q, the stand-in knows `device`", storage.name)
	}
	n := Namespace{
		Name:         b.name,
		Replication:  r.number(b, "replication-factor", 2),
		Rack:         r.number(b, "rack-id", 0),
		PendingLimit: r.number(b, "transaction-pending-limit", 20),
		MigrateSleep: r.duration(b, "migrate-sleep", 1, time.Microsecond),
		File:         r.text(storage, "file", ""),
		FileSize:     r.size(storage, "filesize", 0),
		FlushMax:     r.duration(storage, "flush-max-ms", 1000, time.Millisecond),
		StopWrites:   r.number(storage, "stop-writes-used-pct", 70),
	}
	if n.Name == "" || n.File == "" || n.FileSize == 0 {
		r.problem("namespace: wanted a name, a `file` and a `filesize`")
	}
	if n.Rack > maxRack {
		r.problem("rack-id %d, wanted at most %d", n.Rack, maxRack)
	}
	if n.Replication == 0 {
		r.problem("replication-factor 0, wanted 1 or more")
	}
	return n
}

// finish reports unused settings: the real server refuses what it does not know, too.
func (r *reader) finish(b *block) {
	for name := range b.settings {
		if !r.taken[b][name] && !slices.Contains(inert, name) && !slices.Contains(inert, b.kind+"."+name) {
			r.problem("%s: `%s` is not a setting that the stand-in knows", b.kind, name)
		}
	}
	for _, inner := range b.blocks {
		r.finish(inner)
	}
}
