// Package spec is the load generator's whole input: one JSON object, sent with
// the command "open". It is strict, because a misspelt setting that is ignored
// is a wrong measurement.
package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"brownout/loadgen/driver"
)

// Schema is the version of the format that is understood.
const Schema = 1

// Spec is one load: where it goes, what it does, and where its files are written.
type Spec struct {
	Schema     int               `json:"schema"`
	Dir        string            `json:"dir"` // the run directory; made if it is missing
	Seed       uint64            `json:"seed"`
	Writer     string            `json:"writer"` // the run's id
	Driver     string            `json:"driver"`
	Connection Connection        `json:"connection"`
	Options    map[string]any    `json:"options"` // the driver's own
	Namespace  string            `json:"namespace"`
	Data       Data              `json:"data"`
	Streams    []Stream          `json:"streams"`
	LaneCap    int               `json:"lane_cap"`   // 0: the driver's pool per server
	GlobalCap  int               `json:"global_cap"` // 0: none; else one cap, without a queue, in place of the lanes'
	LingerS    float64           `json:"linger_s"`   // after the end of stdin
	Labels     map[string]string `json:"labels"`     // of every Prometheus metric, beside `run`
	Part       driver.Share      `json:"part"`       // which of several generators this one is
}

// Connection says how to reach the database. It never leaves the process.
type Connection struct {
	URI      string           `json:"uri"`
	Username string           `json:"username"`
	Password string           `json:"password"`
	TLS      driver.TLS       `json:"tls"`
	Sentinel *driver.Sentinel `json:"sentinel"`
}

// Data is the plain data set.
type Data struct {
	Keys            uint64 `json:"keys"`
	ValueBytes      int    `json:"value_bytes"`
	Load            bool   `json:"load"` // false: it is there already
	LoadConcurrency int    `json:"load_concurrency"`
	Sets            []Set  `json:"sets"` // in place of Keys and ValueBytes: several, side by side
}

// Stream is one steady source of operations.
type Stream struct {
	Name         string             `json:"name"`
	Set          string             `json:"set"`        // one of Data.Sets; "": the first
	Mix          map[string]float64 `json:"mix"`        // operation: weight
	BatchKeys    int                `json:"batch_keys"` // of each batch
	Keys         Keys               `json:"keys"`
	Rate         float64            `json:"rate"` // operations/s: an open loop
	Arrivals     string             `json:"arrivals"`
	Concurrency  int                `json:"concurrency"` // workers: a closed loop
	DeadlineS    float64            `json:"deadline_s"`
	Retries      string             `json:"retries"`
	Verified     bool               `json:"verified"`
	LedgerKeys   uint64             `json:"ledger_keys"`  // size of a verified stream's own key space
	Reads        string             `json:"reads"`        // what reads of a verified stream are to see
	ReadsFrom    string             `json:"reads_from"`   // whom they ask, for the record
	Linearizable bool               `json:"linearizable"` // the history of its registers is checked
	Vote         *Vote              `json:"vote"`         // in place of a mix: votes
	Play         *Play              `json:"play"`         // players of games
	Reader       *Reader            `json:"reader"`       // who reads them
	Client       *Client            `json:"client"`       // what does its operations; nil: the driver
	HTTP         *Endpoint          `json:"http"`         // where its requests go; nil: to the database
}

// Endpoint is an HTTP endpoint of the application: what is asked of it, by the kind of operation.
type Endpoint struct {
	Requests  map[string]*Request `json:"requests"`
	KeepAlive bool                `json:"keep_alive"` // use a connection again
}

// Request is what is sent for one operation. {key} and {sequence} in URL and Body are filled in.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // may hold secrets
	Body    string            `json:"body"`
	Success Success           `json:"success"`
}

// Success is an answer that counts.
type Success struct {
	Status [][2]int `json:"status"` // first and last of each range
	Body   string   `json:"body"`   // a text that the answer must have; "": any
}

// Counts tells whether a status is one of success.
func (s Success) Counts(status int) bool {
	return slices.ContainsFunc(s.Status, func(r [2]int) bool { return r[0] <= status && status <= r[1] })
}

// Client is a program of the user's, and what it alone understands.
type Client struct {
	Command   []string       `json:"command"`
	Options   map[string]any `json:"options"`
	WriteOnce bool           `json:"write_once"` // it has no conditional writes: each has a key of its own
}

// Play is a stream of players of games.
type Play struct {
	Profile        string  `json:"profile"`         // historic or realtime
	Players        int     `json:"players"`         // in play at a time
	LoadedPlayers  int     `json:"loaded_players"`  // whole players before the load begins
	FirstPlayer    int64   `json:"first_player"`    // the lowest id
	IncrementSpace string  `json:"increment_space"` // wide or hot
	IncrementKeys  int     `json:"increment_keys"`  // of the hot space
	DocScale       float64 `json:"doc_scale"`       // of the snapshots
}

// Reader is a stream that reads all records of one player after the other. Ratio and
// UsersPerS say how its rate was worked out.
type Reader struct {
	Of           string  `json:"of"`
	Ratio        float64 `json:"ratio"`
	UsersPerS    float64 `json:"users_per_s"`
	PlaysPerUser int     `json:"plays_per_user"` // 0: all
	HotShare     float64 `json:"hot_share"`
	WarmShare    float64 `json:"warm_share"`
	HotPlayers   int     `json:"hot_players"`
	WarmS        float64 `json:"warm_s"`
}

// The values of Play.Profile and Play.IncrementSpace.
const (
	Historic  = "historic"
	Realtime  = "realtime"
	WideSpace = "wide"
	HotSpace  = "hot"
)

// Vote is a stream of votes: of each the voter's record is inserted, then a counter of all
// votes and one of the choice get one more.
type Vote struct {
	Choices     []string `json:"choices"`
	Counters    int      `json:"counters"`    // that each count is split into
	Through     string   `json:"through"`     // http or driver
	Connections int      `json:"connections"` // http: at most, to the server of ours
}

// The values of Vote.Through.
const (
	HTTP   = "http"
	Direct = "driver"
)

// Keys says which keys are used how often.
type Keys struct {
	Distribution string  `json:"distribution"`
	Theta        float64 `json:"theta"`     // zipf: the exponent
	Sigma        float64 `json:"sigma"`     // gaussian: standard deviation, as a share of the keys
	HotShare     float64 `json:"hot_share"` // hot-set: share of the operations …
	HotKeys      float64 `json:"hot_keys"`  // … that go to this share of the keys
}

// The values of Keys.Distribution.
const (
	Uniform  = "uniform"
	Zipf     = "zipf"
	Gaussian = "gaussian"
	HotSet   = "hot-set"
)

// The values of Stream.Arrivals.
const (
	Constant = "constant"
	Poisson  = "poisson"
)

// The values of Stream.Reads.
const (
	Eventual     = "eventual"     // any state that was there
	Session      = "session"      // none older than what the same lane has acknowledged or read
	Linearizable = "linearizable" // none older than what was acknowledged
)

// Problems is every fault found in a spec.
type Problems []string

// Error joins all problems in one line.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// Parse reads and checks a spec, with the defaults filled in. Its error is
// Problems, with all that was found.
func Parse(text []byte) (*Spec, error) {
	spec := &Spec{LingerS: 60}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(spec); err != nil {
		return nil, Problems{fmt.Sprintf("the spec is not as wanted: %v", err)}
	}
	for i := range spec.Streams {
		spec.Streams[i].fillDefaults()
		spec.Streams[i].settle()
	}
	if spec.Data.LoadConcurrency == 0 {
		spec.Data.LoadConcurrency = 16
	}
	spec.Data.settle()
	if problems := spec.check(); len(problems) > 0 {
		return nil, problems
	}
	spec.takeShare()
	return spec, nil
}

func (s *Stream) fillDefaults() {
	s.Arrivals = orText(s.Arrivals, Constant)
	s.Retries = orText(s.Retries, driver.RetriesNone)
	s.Reads = orText(s.Reads, Eventual)
	s.DeadlineS = orNumber(s.DeadlineS, 1)
	if s.BatchKeys == 0 {
		s.BatchKeys = 10
	}
	s.Keys.Distribution = orText(s.Keys.Distribution, Uniform)
	s.Keys.Theta = orNumber(s.Keys.Theta, 0.99)
	s.Keys.Sigma = orNumber(s.Keys.Sigma, 0.07)
	s.Keys.HotShare = orNumber(s.Keys.HotShare, 0.9)
	s.Keys.HotKeys = orNumber(s.Keys.HotKeys, 0.1)
}

func orText(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func orNumber(value, otherwise float64) float64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// Open tells whether the stream's arrivals follow a schedule.
func (s *Stream) Open() bool { return s.Concurrency == 0 }

// Kinds lists the operations of the stream's mix in the fixed order of the files.
func (s *Stream) Kinds() []driver.Kind {
	var kinds []driver.Kind
	for _, kind := range driver.Kinds() {
		if s.Mix[kind.String()] > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Loop is "open", "closed" or "mixed".
func (s *Spec) Loop() string {
	open := 0
	for i := range s.Streams {
		if s.Streams[i].Open() {
			open++
		}
	}
	switch open {
	case len(s.Streams):
		return "open"
	case 0:
		return "closed"
	}
	return "mixed"
}

// usesRegisters tells whether any operation is on something but a counter.
func (s *Stream) usesRegisters() bool {
	for _, kind := range s.Kinds() {
		if kind != driver.Increment {
			return true
		}
	}
	return false
}

// LedgerSets lists the key spaces of the verified streams: one of counters for
// increments, one of registers for all else.
func (s *Spec) LedgerSets() []driver.LedgerSet {
	var sets []driver.LedgerSet
	for i, stream := range s.Streams {
		if !stream.Verified {
			continue
		}
		if stream.Vote != nil {
			n := uint64(stream.Vote.Counters * (1 + len(stream.Vote.Choices)))
			sets = append(sets, driver.LedgerSet{Stream: i, Name: stream.Name, Keys: n, Counter: true})
			continue
		}
		if stream.Modelled() {
			continue // its promises are about documents
		}
		set := driver.LedgerSet{Stream: i, Name: stream.Name, Keys: stream.LedgerKeys}
		if stream.usesRegisters() {
			sets = append(sets, set)
		}
		if stream.Mix["increment"] > 0 {
			set.Counter = true
			sets = append(sets, set)
		}
	}
	return sets
}

// DriverConfig is the part that the driver sees.
func (s *Spec) DriverConfig() driver.Config {
	config := driver.Config{
		URI: s.Connection.URI, Username: s.Connection.Username, Password: s.Connection.Password,
		TLS: s.Connection.TLS, Sentinel: s.Connection.Sentinel, Options: s.Options, Namespace: s.Namespace, Writer: s.Writer,
		LaneCap: max(s.LaneCap, s.GlobalCap), Reuse: !s.Data.Load,
	}
	for _, stream := range s.Streams {
		config.Streams = append(config.Streams, driver.StreamConfig{
			Name: stream.Name, DeadlineS: stream.DeadlineS,
			Retries: stream.Retries, Verified: stream.Verified,
		})
	}
	return config
}
