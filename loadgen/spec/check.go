package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"brownout/loadgen/driver"
)

// Only what would crash the generator, or keep it busy for ever, is checked here: an index or a
// division by zero, a number that overflows, more memory than any machine has. What a load should be is
// said once, by the schema of workloads (`brownout schema workload`), whose bounds are all
// narrower than these.
const (
	mostNumber = 1e9     // a rate or a time: their product is a number of operations
	mostKeys   = 1 << 40 // that are counted and never held
	mostHeld   = 1 << 24 // workers, players, verified keys, bytes of a value: all in memory
	mostSigma  = 1000    // beyond it a draw hardly ever falls into the range
)

// The labels that Prometheus allows, less those that a metric of ours has itself.
var (
	labelName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
	ownLabels = []string{"run", "stream", "op", "outcome", "cause", "lane", "le"}
)

// add notes a problem unless ok.
func (p *Problems) add(ok bool, format string, arguments ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, arguments...))
	}
}

// holds wants a number of things that fit into memory.
func (p *Problems) holds(what string, n, least int) {
	p.add(n >= least && n <= mostHeld, "%s is %d (wanted %d to %d)", what, n, least, mostHeld)
}

func (p *Problems) within(what string, value, low, high float64) {
	p.add(value >= low && value <= high, "%s is %v (wanted %v to %v)", what, value, low, high)
}

func (p *Problems) oneOf(what, value string, wanted ...string) {
	p.add(slices.Contains(wanted, value), "%s is %q (wanted one of: %s)", what, value, strings.Join(wanted, ", "))
}

func (s *Spec) check() Problems {
	var p Problems
	p.add(s.Schema == Schema, "`schema` is %d (wanted %d)", s.Schema, Schema)
	p.add(s.Dir != "", "`dir` is empty (wanted the run directory)")
	p.add(s.Writer != "", "`writer` is empty (wanted the run's id)")
	p.add(s.Namespace != "", "`namespace` is empty")
	p.oneOf("`driver`", s.Driver, driver.Names()...)
	s.Data.check(&p)
	p.holds("`lane_cap`", s.LaneCap, 0)
	p.holds("`global_cap`", s.GlobalCap, 0)
	p.within("`linger_s`", s.LingerS, 0, mostNumber)
	for name := range s.Labels {
		p.add(labelName.MatchString(name) && !slices.Contains(ownLabels, name),
			"`labels` has %q (wanted a label name of Prometheus, and not %s)", name, strings.Join(ownLabels, ", "))
	}
	p.add(len(s.Streams) > 0, "`streams` is empty (wanted at least one)")
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
	where := fmt.Sprintf("stream %q: ", s.Name)
	p.add((s.Rate > 0) != (s.Concurrency > 0),
		"%s`rate` is %v and `concurrency` %d (wanted exactly one of them)", where, s.Rate, s.Concurrency)
	p.within(where+"`rate`", s.Rate, 0, mostNumber)
	p.holds(where+"`concurrency`", s.Concurrency, 0)
	p.within(where+"`deadline_s`", s.DeadlineS, 0, mostNumber)
	p.holds(where+"`batch_keys`", s.BatchKeys, 1)
	p.oneOf(where+"`arrivals`", s.Arrivals, Constant, Poisson)
	p.oneOf(where+"`retries`", s.Retries, driver.RetriesNone, driver.RetriesOnce, driver.RetriesDriverDefault)
	p.oneOf(where+"`reads`", s.Reads, Eventual, Session, Linearizable)
	p.add(!s.Linearizable || s.Verified && !s.Modelled(), "%s`linearizable` is set (wanted `verified` and a `mix`)", where)
	p.oneOf(where+"`keys.distribution`", s.Keys.Distribution, Uniform, Zipf, Gaussian, HotSet)
	p.within(where+"`keys.theta`", s.Keys.Theta, 0, 100)
	p.within(where+"`keys.sigma`", s.Keys.Sigma, 0, mostSigma)
	_, _, known := data.SetOf(s.Set)
	p.add(known, "%sthere is no set %q", where, s.Set)
	for _, name := range slices.Sorted(maps.Keys(s.Mix)) {
		_, err := driver.ParseKind(name)
		p.add(err == nil, "%s`mix`: %v", where, err)
	}
	p.add(len(s.Kinds()) > 0, "%s`mix` has no operation with a share", where)
	p.add(s.Mix["vote"] == 0 || s.Vote != nil, "%s`mix` has votes, but there is no `vote`", where)
	s.checkKeySpace(p, where, data)
	s.checkClient(p, where)
	s.checkHTTP(p, where)
	s.checkModel(p, where)
}

// checkClient wants of a stream with a client what a client can do.
func (s *Stream) checkClient(p *Problems, where string) {
	if s.Client == nil {
		return
	}
	p.add(len(s.Client.Command) > 0, "%s`client.command` is empty (wanted a program and its arguments)", where)
	p.add(s.Verified && !s.Modelled(), "%sit has a `client` (wanted `verified` and a `mix`)", where)
	for name := range s.Mix {
		p.add(name == "read" || name == "update", "%s`mix` has %s (wanted read and update: a client does these)", where, name)
	}
}

// checkHTTP wants a request for each operation of a stream that asks an endpoint.
func (s *Stream) checkHTTP(p *Problems, where string) {
	if s.HTTP == nil {
		return
	}
	p.add(s.Client == nil && !s.Verified && !s.Modelled(),
		"%sit has `http` (wanted a `mix` alone, not `client` or `verified`)", where)
	for name := range s.Mix {
		request := s.HTTP.Requests[name]
		if request == nil {
			p.add(false, "%s`http.requests` has none for %s (wanted one for each operation of `mix`)", where, name)
			continue
		}
		p.add(name == "read" || name == "update", "%s`mix` has %s (wanted read and update beside `http`)", where, name)
		p.add(request.URL != "" && request.Method != "", "%s`http.requests.%s` does not have `url` or `method`", where, name)
	}
}

// checkKeySpace wants keys to choose from, of which verified ones are there from the start.
func (s *Stream) checkKeySpace(p *Problems, where string, data Data) {
	switch {
	case s.Modelled():
	case s.Verified:
		p.add(s.LedgerKeys > 0 && s.LedgerKeys <= mostHeld,
			"%s`ledger_keys` is %d (wanted 1 to %d for a verified stream)", where, s.LedgerKeys, mostHeld)
		p.add(s.Mix["insert"] == 0, "%sa verified stream has a fixed set of keys and cannot insert", where)
	default:
		onlyInserts := len(s.Kinds()) == 1 && s.Mix["insert"] > 0
		p.add(data.Keys > 0 || onlyInserts, "%s`data.keys` is 0, but the stream needs keys", where)
	}
}
