package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"brownout/loadgen/driver"
)

const (
	// copiesBatch is how many keys are compared at a time.
	copiesBatch = 1000
	// copiesPatience is for how long keys are compared; what is left then is not.
	copiesPatience = 60 * time.Second
	// settlePatience is how long copies that differ have to become alike: replicas may lag.
	settlePatience = 30 * time.Second
	settlePause    = 500 * time.Millisecond
	// listedKeys is how many keys that differ are listed one by one.
	listedKeys = 20
)

// ComparedCopies is what comparing every server's own copies of our records came to: a line of
// ledger.ndjson.
type ComparedCopies struct {
	Copies   string   `json:"copies"` // compared
	Servers  []string `json:"servers"`
	Keys     uint64   `json:"keys"`
	Compared uint64   `json:"compared"` // of which two servers or more told what they have
	Alone    uint64   `json:"alone"`    // of which one server has all there is
	Diverged uint64   `json:"diverged"` // of the compared ones: not all copies are alike
	Unread   uint64   `json:"unread"`   // of which a server did not tell its copy
	Error    string   `json:"error,omitempty"`
}

// DivergedKey is one key whose copies differ: a line of ledger.ndjson.
type DivergedKey struct {
	Diverged string            `json:"diverged"`
	Copies   map[string]string `json:"copies"` // by server
}

// compared is a set of keys of one kind.
type compared struct {
	verified, counter bool
	ids               []string
}

// CompareCopies reads what each server has stored of the data set and of the ledger's keys, and
// reports the keys whose copies differ. It returns nil if there is nothing to compare, or the
// servers cannot be asked for their own copies. A server that gives no answer is not asked again.
func (e *Engine) CompareCopies(
	ctx context.Context, progress func(done, total uint64), diverged func(*DivergedKey) error,
) (*ComparedCopies, error) {
	reads, ok := driver.As[driver.ReadsCopies](e.driver)
	sets := e.comparedSets()
	if !ok || len(sets) == 0 {
		return nil, nil
	}
	result := &ComparedCopies{Copies: "compared", Servers: []string{}}
	for _, set := range sets {
		result.Keys += uint64(len(set.ids))
	}
	copies, err := reads.Copies(ctx)
	defer func() {
		for _, each := range copies {
			each.Close()
		}
	}()
	if err != nil {
		result.Unread, result.Error = result.Keys, err.Error()
		return result, ctx.Err()
	}
	if len(copies) == 0 {
		return nil, nil
	}
	for _, each := range copies {
		result.Servers = append(result.Servers, each.Server())
	}
	slices.Sort(result.Servers)
	c := &comparison{
		copies: slices.Clone(copies), result: result, progress: progress, until: time.Now().Add(copiesPatience),
	}
	for _, set := range sets {
		c.set(ctx, set)
	}
	c.settle(ctx)
	for _, each := range c.differing[:min(listedKeys, len(c.differing))] {
		if err := diverged(&DivergedKey{Diverged: each.id, Copies: each.copies}); err != nil {
			return result, err
		}
	}
	result.Diverged = uint64(len(c.differing))
	return result, ctx.Err()
}

// comparedSets are the keys of the ledger, and those of the data set that this run has loaded.
func (e *Engine) comparedSets() (sets []compared) {
	for _, set := range e.Ledger() {
		if e.spec.Streams[set.Stream].Client != nil {
			continue // where its client keeps them is not known
		}
		sets = append(sets, compared{verified: true, counter: set.Counter, ids: set.IDs()})
	}
	if len(sets) == 0 || !e.ChecksData() {
		return sets
	}
	var ids []string
	first, limit := e.spec.Part.Range(0, e.spec.Data.Keys)
	for number := range numbersOf(first, limit, e.distance(limit-first), nil) {
		ids = append(ids, driver.DataID(number))
	}
	// If the time is over before all are compared, those that were are a sample of all.
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // it protects nothing
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return append(sets, compared{ids: ids})
}

// comparison is under way.
type comparison struct {
	copies    []driver.Copy // of those that answer
	silent    bool          // one does not
	result    *ComparedCopies
	progress  func(done, total uint64)
	until     time.Time
	differing []differing
}

func (c *comparison) report() {
	c.progress(c.result.Compared+c.result.Alone+c.result.Unread, c.result.Keys)
}

type differing struct {
	of     compared
	id     string
	copies map[string]string
	unread bool // a server did not tell its copy
}

// set compares the keys of one set, until the time is over.
func (c *comparison) set(ctx context.Context, set compared) {
	for ids := range slices.Chunk(set.ids, copiesBatch) {
		if time.Now().After(c.until) || ctx.Err() != nil {
			return
		}
		copies := c.read(ctx, set, ids)
		for _, id := range ids {
			switch of := copies[id]; {
			case c.silent:
				c.result.Unread++
			case len(of) == 1:
				c.result.Alone++
			case len(of) > 1:
				c.result.Compared++
			}
			if unlike(copies[id]) {
				c.differing = append(c.differing, differing{set, id, copies[id], c.silent})
			}
		}
		c.report()
	}
}

// settle reads keys whose copies differ again, until they are alike or their time is over.
func (c *comparison) settle(ctx context.Context) {
	until := time.Now().Add(settlePatience)
	for len(c.differing) > 0 && time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(settlePause):
		}
		c.report()
		var left []differing
		for batch := range slices.Chunk(c.differing, copiesBatch) {
			left = append(left, c.again(ctx, batch)...)
		}
		c.differing = left
	}
}

// again returns those whose copies still differ. Where a server no longer answers, the copies of the
// others decide, and the key counts as unread.
func (c *comparison) again(ctx context.Context, batch []differing) (left []differing) {
	for _, kind := range []compared{{}, {verified: true}, {verified: true, counter: true}} {
		var ids []string
		before := map[string]differing{}
		for _, each := range batch {
			if each.of.verified == kind.verified && each.of.counter == kind.counter {
				ids = append(ids, each.id)
				before[each.id] = each
			}
		}
		if len(ids) == 0 {
			continue
		}
		now := c.read(ctx, kind, ids)
		for _, id := range ids {
			last := before[id]
			if len(now[id]) < len(last.copies) && !last.unread {
				last.unread = true
				c.result.Compared--
				c.result.Unread++
			}
			last.copies = now[id]
			if unlike(last.copies) {
				left = append(left, last)
			}
		}
	}
	return left
}

// read asks every server that answers for its copies of keys.
func (c *comparison) read(ctx context.Context, set compared, ids []string) map[string]map[string]string {
	copies := make(map[string]map[string]string, len(ids))
	failed := map[driver.Copy]error{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, each := range c.copies {
		wait.Go(func() {
			err := each.Read(ctx, set.verified, ids, set.counter, func(back driver.ReadBack) {
				mu.Lock()
				defer mu.Unlock()
				if back.Err != nil {
					failed[each] = back.Err
					return
				}
				if copies[back.ID] == nil {
					copies[back.ID] = make(map[string]string, len(c.copies))
				}
				copies[back.ID][each.Server()] = shown(back, set.counter)
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[each] = err
			}
		})
	}
	wait.Wait()
	for each, err := range failed {
		c.silent, c.result.Error = true, each.Server()+": "+err.Error()
	}
	c.copies = slices.DeleteFunc(c.copies, func(each driver.Copy) bool { return failed[each] != nil })
	return copies
}

// shown says all of a copy that may differ.
func shown(back driver.ReadBack, counter bool) string {
	switch {
	case back.Missing || (!counter && back.Record == nil):
		return "missing"
	case counter && back.ChecksumOK:
		return fmt.Sprint(back.Value)
	case counter:
		return "not a counter"
	case back.Record.Writer == "":
		return "not a record of ours"
	case !back.ChecksumOK:
		return fmt.Sprintf("sequence %d of %s, fails its checksum", back.Record.Seq, back.Record.Writer)
	}
	return fmt.Sprintf("sequence %d of %s, checksum %08x", back.Record.Seq, back.Record.Writer, back.Record.Checksum)
}

func unlike(copies map[string]string) bool {
	different := slices.Compact(slices.Sorted(maps.Values(copies)))
	return len(different) > 1
}
