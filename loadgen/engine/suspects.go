package engine

import (
	"context"
	"sync"

	"brownout/loadgen/driver"
)

const (
	// mostSuspects is how many keys are kept to be read again.
	mostSuspects = 1000
	// rereads is how often each of these is read by the load's own clients, which may ask another
	// copy each time: of three copies, one that is damaged is missed once in 3,000 times.
	rereads = 20
	// rereaders is how many keys are read again at a time.
	rereaders = 16
)

// suspects remembers the keys of which the database has answered with something that fails its
// checksum: they are lost until they are read intact.
type suspects struct {
	mu      sync.Mutex
	answers uint64
	keys    map[suspect]bool
}

type suspect struct {
	stream   int
	verified bool
	id       string
}

// Reread is what became of the answers that failed their checksum: a line of ledger.ndjson.
type Reread struct {
	Garbled string `json:"garbled"` // answers
	Answers uint64 `json:"answers"`
	Keys    uint64 `json:"keys"`    // that were read again; of a batch, all of it
	Corrupt uint64 `json:"corrupt"` // of these, with an answer that fails its checksum still
	Unread  uint64 `json:"unread"`  // of these, and without an answer
	Sampled bool   `json:"sampled"` // there were more keys
	Error   string `json:"error,omitempty"`
}

// note takes what the database answered to an operation.
func (s *suspects) note(op *driver.Op, result *driver.Result) {
	if result.Cause != driver.CauseIntegrity || result.Code == driver.CodeNoMatch || op.ID == "" {
		return
	}
	ids := op.IDs
	if len(ids) == 0 {
		ids = []string{op.ID}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	if s.keys == nil {
		s.keys = map[suspect]bool{}
	}
	for _, id := range ids {
		if len(s.keys) <= mostSuspects { // one more tells that there are more
			s.keys[suspect{op.Stream, op.Verified, id}] = true
		}
	}
}

// Suspicious tells whether any answer failed its checksum.
func (e *Engine) Suspicious() bool {
	e.suspects.mu.Lock()
	defer e.suspects.mu.Unlock()
	return e.suspects.answers > 0
}

// Reread reads the keys of these answers again, as the load did, and reports those that fail their
// checksum still. It returns nil if there were no such answers.
func (e *Engine) Reread(ctx context.Context, lost func(*LostRecord) error) (*Reread, error) {
	if !e.Suspicious() {
		return nil, nil
	}
	reread := &Reread{Garbled: "answers", Answers: e.suspects.answers}
	var keys []suspect
	for key := range e.suspects.keys {
		if len(keys) < mostSuspects {
			keys = append(keys, key)
		}
	}
	reread.Keys, reread.Sampled = uint64(len(keys)), len(e.suspects.keys) > mostSuspects
	var mu sync.Mutex
	err := driver.InBatches(ctx, rereaders, 0, reread.Keys, 1, func(ctx context.Context, i, _ uint64) error {
		result := e.readAgain(ctx, keys[i])
		mu.Lock()
		defer mu.Unlock()
		switch {
		case result.Cause == driver.CauseIntegrity:
			reread.Corrupt++
			return lost(&LostRecord{Record: keys[i].id, Corrupt: true})
		case result.Class != driver.OK:
			reread.Unread, reread.Error = reread.Unread+1, string(result.Cause)+" "+result.Code
		}
		return nil
	})
	return reread, err
}

// readAgain reads a key until an answer fails its checksum, or none of so many does.
func (e *Engine) readAgain(ctx context.Context, key suspect) (result driver.Result) {
	op := driver.Op{Kind: driver.Read, Stream: key.stream, Verified: key.verified, ID: key.id}
	for range rereads {
		op.Prepared = nil
		limited, cancel := context.WithTimeout(ctx, e.streams[key.stream].deadline)
		e.driver.Lane(&op)
		once := e.driver.Do(limited, &op)
		cancel()
		if once.Cause == driver.CauseIntegrity {
			return once
		}
		result = once
	}
	return result
}
