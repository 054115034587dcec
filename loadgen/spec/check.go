package spec

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"brownout/loadgen/driver"
)

// Limits that keep memory bounded by construction: a lane queues at most
// rate × deadline operations.
const (
	maxRate      = 2_000_000
	maxDeadlineS = 600
	maxStreams   = 64
	maxWorkers   = 100_000
	maxKeys      = 10_000_000_000
	maxLedger    = 10_000_000
	maxValue     = 16 << 20
	maxBatch     = 5000
)

var streamName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// The labels that Prometheus allows, less those that a metric of ours has itself.
var (
	labelName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
	ownLabels = []string{"run", "stream", "op", "outcome", "cause", "lane", "le"}
)

// reserved names are scopes of the measures.
var reserved = []string{"total", "read", "write"}

// add notes a problem unless ok.
func (p *Problems) add(ok bool, format string, arguments ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, arguments...))
	}
}

func (s *Spec) check() Problems {
	var p Problems
	p.add(s.Schema == Schema, "`schema` is %d (wanted %d)", s.Schema, Schema)
	p.add(s.Dir != "", "`dir` is empty (wanted the run directory)")
	p.add(s.Writer != "", "`writer` is empty (wanted the run's id)")
	p.add(slices.Contains(driver.Names(), s.Driver),
		"`driver` is %q (wanted one of: %s)", s.Driver, strings.Join(driver.Names(), ", "))
	p.add(s.Namespace != "", "`namespace` is empty")
	s.Data.check(&p)
	p.add(s.LaneCap >= 0 && s.LaneCap <= maxWorkers, "`lane_cap` is %d (wanted 0 to %d)", s.LaneCap, maxWorkers)
	p.add(s.GlobalCap >= 0 && s.GlobalCap <= maxWorkers, "`global_cap` is %d (wanted 0 to %d)", s.GlobalCap, maxWorkers)
	for name := range s.Labels {
		p.add(labelName.MatchString(name) && !slices.Contains(ownLabels, name),
			"`labels` has %q (wanted a label name of Prometheus, and not %s)", name, strings.Join(ownLabels, ", "))
	}
	p.add(within(s.LingerS, 0, 3600), "`linger_s` is %v (wanted 0 to 3600)", s.LingerS)
	p.add(len(s.Streams) > 0 && len(s.Streams) <= maxStreams,
		"`streams` has %d entries (wanted 1 to %d)", len(s.Streams), maxStreams)
	names := map[string]bool{}
	for i := range s.Streams {
		name := s.Streams[i].Name
		p.add(!names[name], "stream %q is there twice", name)
		names[name] = true
		s.Streams[i].check(&p, s.Data)
	}
	s.checkReaders(&p)
	s.checkPart(&p)
	return p
}

func (s *Stream) check(p *Problems, data Data) {
	p.add(streamName.MatchString(s.Name) && !slices.Contains(reserved, s.Name),
		"a stream is called %q (wanted letters, digits, - and _, and not %s)", s.Name, strings.Join(reserved, ", "))
	where := fmt.Sprintf("stream %q: ", s.Name)
	p.add((s.Rate > 0) != (s.Concurrency > 0),
		"%s`rate` is %v and `concurrency` %d (wanted exactly one of them)", where, s.Rate, s.Concurrency)
	p.add(within(s.Rate, 0, maxRate), "%s`rate` is %v (at most %d)", where, s.Rate, maxRate)
	p.add(s.Concurrency >= 0 && s.Concurrency <= maxWorkers,
		"%s`concurrency` is %d (at most %d)", where, s.Concurrency, maxWorkers)
	p.add(within(s.DeadlineS, 0.001, maxDeadlineS),
		"%s`deadline_s` is %v (wanted 0.001 to %d)", where, s.DeadlineS, maxDeadlineS)
	checkOneOf(p, where+"`arrivals`", s.Arrivals, Constant, Poisson)
	checkOneOf(p, where+"`retries`", s.Retries,
		driver.RetriesNone, driver.RetriesOnce, driver.RetriesDriverDefault)
	p.add(s.BatchKeys >= 1 && s.BatchKeys <= maxBatch,
		"%s`batch_keys` is %d (wanted 1 to %d)", where, s.BatchKeys, maxBatch)
	_, _, known := data.SetOf(s.Set)
	p.add(known, "%sthere is no set %q", where, s.Set)
	s.checkMix(p, where)
	s.checkModel(p, where)
	s.Keys.check(p, where)
	s.checkKeySpace(p, where, data)
}

func (s *Stream) checkMix(p *Problems, where string) {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(s.Mix)) {
		_, err := driver.ParseKind(name)
		p.add(err == nil, "%s`mix`: %v", where, err)
		p.add(within(s.Mix[name], 0, math.MaxFloat64), "%s`mix.%s` is %v (wanted 0 or more)", where, name, s.Mix[name])
		sum += s.Mix[name]
	}
	p.add(sum > 0, "%s`mix` has no operation with a share", where)
}

func (s *Stream) checkKeySpace(p *Problems, where string, data Data) {
	if !s.Verified {
		p.add(s.LedgerKeys == 0, "%s`ledger_keys` is %d, but the stream is not verified", where, s.LedgerKeys)
		onlyInserts := len(s.Kinds()) == 1 && s.Mix["insert"] > 0
		p.add(data.Keys > 0 || onlyInserts || s.Modelled(), "%s`data.keys` is 0, but the stream needs keys", where)
		return
	}
	if s.Modelled() {
		p.add(s.LedgerKeys == 0, "%s`ledger_keys` is %d, but its keys follow from the model", where, s.LedgerKeys)
		p.add(data.Load, "%sa verified stream needs `data.load`: its keys start from a known state", where)
		return
	}
	p.add(s.LedgerKeys > 0 && s.LedgerKeys <= maxLedger,
		"%s`ledger_keys` is %d (wanted 1 to %d for a verified stream)", where, s.LedgerKeys, maxLedger)
	p.add(s.Mix["insert"] == 0, "%sa verified stream has a fixed set of keys and cannot insert", where)
	p.add(data.Load, "%sa verified stream needs `data.load`: its keys start from a known state", where)
}

func (k *Keys) check(p *Problems, where string) {
	checkOneOf(p, where+"`keys.distribution`", k.Distribution, Uniform, Zipf, Gaussian, HotSet)
	p.add(within(k.Theta, 1e-6, 20), "%s`keys.theta` is %v (wanted more than 0, at most 20)", where, k.Theta)
	p.add(within(k.Sigma, 1e-6, 10), "%s`keys.sigma` is %v (wanted more than 0, at most 10)", where, k.Sigma)
	p.add(within(k.HotShare, 0, 1), "%s`keys.hot_share` is %v (wanted 0 to 1)", where, k.HotShare)
	p.add(within(k.HotKeys, 1e-9, 1), "%s`keys.hot_keys` is %v (wanted more than 0, at most 1)", where, k.HotKeys)
}

func checkOneOf(p *Problems, what, value string, wanted ...string) {
	p.add(slices.Contains(wanted, value), "%s is %q (wanted one of: %s)", what, value, strings.Join(wanted, ", "))
}

// within is also false for a value that is not a number.
func within(value, low, high float64) bool { return value >= low && value <= high }
