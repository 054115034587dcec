package redis

import (
	"context"
	"io"
	"syscall"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
)

// said is an error of a server, as go-redis has it.
type said string

func (s said) Error() string { return string(s) }
func (said) RedisError()     {}

const failed, doubt = driver.Failed, driver.InDoubt

func TestAnErrorIsSortedByWhatItSaysOfTheWrite(t *testing.T) {
	cases := map[string]struct {
		err   error
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"down":             {said("CLUSTERDOWN The cluster is down"), failed, driver.CauseQuorumUnavailable, "CLUSTERDOWN"},
		"moved":            {said("MOVED 1 127.0.0.1:1"), failed, driver.CauseNotPrimary, "MOVED"},
		"a replica":        {said("READONLY You can't write against a read only replica."), failed, driver.CauseNotPrimary, "READONLY"},
		"loading":          {said("LOADING Redis is loading the dataset in memory"), failed, driver.CauseNoNode, "LOADING"},
		"few replicas":     {said("NOREPLICAS Not enough good replicas to write."), failed, driver.CauseQuorumUnavailable, "NOREPLICAS"},
		"no memory":        {said("OOM command not allowed"), failed, driver.CauseStopWrites, "OOM"},
		"not allowed":      {said("NOPERM User x has no permissions"), failed, driver.CauseAuthTLS, "NOPERM"},
		"no number":        {said("ERR value is not an integer or out of range"), failed, driver.CauseIntegrity, "ERR value is not an integer"},
		"unknown word":     {said("STRANGE thing"), doubt, driver.CauseOther, "STRANGE"},
		"unknown sentence": {said("ERR something else"), doubt, driver.CauseOther, "ERR"},
		"no code at all":   {said("something 127.0.0.1"), doubt, driver.CauseOther, "?"},
		"hung up":          {io.EOF, doubt, driver.CauseConnectionReset, "EOF"},
		"reset":            {syscall.ECONNRESET, doubt, driver.CauseConnectionReset, "connection reset"},
		"no answer":        {context.DeadlineExceeded, doubt, driver.CauseReadTimeout, "no answer"},
		"closing":          {valkey.ErrClosing, doubt, driver.CauseConnectionReset, "closed"},
		"new":              {errOther, doubt, driver.CauseOther, "?"},
		"refused":          {errDial, failed, driver.CauseConnectRefused, "connection refused"},
		"no node":          {valkey.ErrNoSlot, failed, driver.CauseNoNode, "no node for the slot"},
		"no connection":    {goredis.ErrPoolTimeout, failed, driver.CausePoolExhausted, "pool timeout"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Insert, &attempts{sent: 1})
			if got.Class != test.class || got.Cause != test.cause || got.Code != test.code {
				t.Errorf("got %+v, wanted %v %s %q", got, test.class, test.cause, test.code)
			}
			if !got.Cause.Known() {
				t.Errorf("%s is not a cause", got.Cause)
			}
			if read := classify(test.err, driver.Read, &attempts{sent: 1}); read.Class != failed {
				t.Errorf("a read is %v", read.Class)
			}
		})
	}
}

func TestEveryKnownErrorHasACauseAndIsNoSuccess(t *testing.T) {
	for _, table := range []map[string]verdict{known, sentences} {
		for code, v := range table {
			got := classify(said(code+" and more"), driver.Update, &attempts{sent: 1})
			if got.Class == driver.OK || !got.Cause.Known() || got.Code != code || got.Retryable == v.final {
				t.Errorf("%s: %+v", code, got)
			}
			if (got.Class == doubt) != v.doubt || !got.Sent {
				t.Errorf("%s: %+v", code, got)
			}
		}
	}
}

func TestWhatNoNodeWasGivenIsAFailure(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, errOther} {
		if got := classify(err, driver.Increment, &attempts{}); got.Class != failed || got.Sent {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

func TestAnAttemptInDoubtStaysSoWhateverTheNextOneMet(t *testing.T) {
	seen := &attempts{}
	_ = seen.begin()
	seen.ended(io.EOF)
	_ = seen.begin()
	seen.ended(errDial)
	if got := classify(errDial, driver.Update, seen); got.Class != doubt || got.Attempts != 2 || !got.Sent {
		t.Errorf("got %+v", got)
	}
	seen = &attempts{}
	_ = seen.begin()
	seen.ended(said("CLUSTERDOWN"))
	if got := classify(said("CLUSTERDOWN"), driver.Update, seen); got.Class != failed {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutRetriesOnlyARedirectIsFollowed(t *testing.T) {
	for err, want := range map[error]bool{said("MOVED 1 a:1"): true, said("ASK 1 a:1"): true, said("CLUSTERDOWN"): false, io.EOF: false} {
		seen := &attempts{once: true}
		_ = seen.begin()
		seen.ended(err)
		if again := seen.begin() == nil; again != want {
			t.Errorf("after %v: %v", err, again)
		}
	}
}

func TestOnlyWhatMayBeDoneTwiceIsRetryableInDoubt(t *testing.T) {
	for kind, want := range map[driver.Kind]bool{driver.Update: true, driver.Operate: true, driver.Insert: false, driver.Increment: false} {
		if got := classify(io.EOF, kind, &attempts{sent: 1}); got.Retryable != want {
			t.Errorf("%v: %+v", kind, got)
		}
		if got := classify(errDial, kind, &attempts{sent: 1}); !got.Retryable {
			t.Errorf("%v that failed: %+v", kind, got)
		}
	}
}

func TestKeysLieWhereTheSpecificationSays(t *testing.T) {
	for key, slot := range map[string]int{"123456789": 0x31C3, "foo": 12182, "{foo}bar": 12182, "{}foo": slotOf("{}foo")} {
		if got := slotOf(key); got != slot {
			t.Errorf("%s is in slot %d, wanted %d", key, got, slot)
		}
	}
	if slotOf("{}foo") == slotOf("foo") {
		t.Error("empty braces are a tag")
	}
}

func TestAnAnswerThatNamesNoSlotsIsAnError(t *testing.T) {
	node := []any{"127.0.0.1", int64(7000), "id"}
	for name, answer := range map[string]any{
		"no list": "x", "no range": []any{"x"}, "no node": []any{[]any{int64(0), int64(1)}},
		"beyond the end": []any{[]any{int64(0), int64(slots), node}},
		"no address":     []any{[]any{int64(0), int64(1), []any{"", int64(1), "id"}}},
	} {
		if _, err := parseSlots(answer); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	got, err := parseSlots([]any{[]any{int64(5), int64(9), node}, []any{int64(0), int64(1), node}})
	if err != nil || len(got.shards) != 1 || got.shards[0].lane != "slots 0-1" || got.owners[9].lane != "slots 0-1" || got.owners[2] != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
