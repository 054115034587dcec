package vote

import (
	"context"
	"net/http"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

var inDoubt = driver.Result{Class: driver.InDoubt, Cause: driver.CauseReadTimeout, Sent: true}

func answers(results ...driver.Result) *drivertest.Fake {
	step := 0
	return &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result {
		step++
		return results[step-1]
	}}
}

func TestAVoteIsOKOnlyAsAWhole(t *testing.T) {
	ok := drivertest.OK()
	for name, c := range map[string]struct {
		answers []driver.Result
		class   driver.Class
		parts   [driver.Steps]driver.Part
	}{
		"all done": {[]driver.Result{ok, ok, ok}, driver.OK,
			[driver.Steps]driver.Part{driver.PartDone, driver.PartDone, driver.PartDone}},
		"nothing sent": {[]driver.Result{drivertest.Refused()}, driver.Failed, [driver.Steps]driver.Part{}},
		"the record in doubt": {[]driver.Result{inDoubt}, driver.InDoubt,
			[driver.Steps]driver.Part{driver.PartInDoubt}},
		"half of it refused": {[]driver.Result{ok, drivertest.Refused()}, driver.InDoubt,
			[driver.Steps]driver.Part{driver.PartDone}},
	} {
		ballot := &driver.Ballot{}
		result := Cast(t.Context(), answers(c.answers...), 0, ballot)
		if result.Class != c.class || ballot.Parts != c.parts || (c.class != driver.OK && name != "nothing sent" && result.Retryable) {
			t.Errorf("%s: %+v, %v", name, result, ballot.Parts)
		}
	}
}

func served(t *testing.T, d driver.Driver) *HTTP {
	t.Helper()
	s := &spec.Spec{Streams: []spec.Stream{{
		Name: "votes", DeadlineS: 1, Vote: &spec.Vote{Choices: []string{"y", "n"}, Counters: 1, Through: spec.HTTP, Connections: 4},
	}}}
	server, err := NewServer(s, 0, d)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(t.Context()) }()
	return &HTTP{Driver: d, spec: s, endpoint: &endpoint{address: server.Address()}, client: &http.Client{}}
}

func do(t *testing.T, h *HTTP, limit time.Duration) (driver.Result, *driver.Ballot) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ballot := &driver.Ballot{Voter: 7, Choice: "n"}
	return h.Do(ctx, &driver.Op{Kind: driver.Vote, Ballot: ballot}), ballot
}

func TestAVoteThroughHTTPTellsOfEachStep(t *testing.T) {
	result, ballot := do(t, served(t, answers(drivertest.OK(), inDoubt)), time.Minute)
	if result.Class != driver.InDoubt || result.Cause != driver.CauseReadTimeout ||
		ballot.Parts != [driver.Steps]driver.Part{driver.PartDone, driver.PartInDoubt} {
		t.Errorf("%+v, %v", result, ballot.Parts)
	}
}

func TestAVoteWithoutAnAnswerIsInDoubtInEveryStep(t *testing.T) {
	stuck := &drivertest.Fake{Answer: drivertest.TimedOut}
	result, ballot := do(t, served(t, stuck), 50*time.Millisecond)
	all := [driver.Steps]driver.Part{driver.PartInDoubt, driver.PartInDoubt, driver.PartInDoubt}
	if result.Class != driver.InDoubt || result.Cause != driver.CauseTotalTimeout || ballot.Parts != all {
		t.Errorf("%+v, %v", result, ballot.Parts)
	}
}

func TestAVoteThatFoundNoEndpointFailedAndWasNotSent(t *testing.T) {
	h := served(t, &drivertest.Fake{})
	h.endpoint.address = "127.0.0.1:1"
	result, ballot := do(t, h, time.Minute)
	if result.Class != driver.Failed || result.Sent || result.Cause != driver.CauseConnectRefused ||
		ballot.Parts != [driver.Steps]driver.Part{} {
		t.Errorf("%+v, %v", result, ballot.Parts)
	}
}

func TestTheEndpointRefusesWhatIsNoVote(t *testing.T) {
	fake := &drivertest.Fake{}
	h := served(t, fake)
	for _, query := range []string{"", "?u=x&v=y", "?u=1&v=z", "?u=-1&v=y"} {
		response, err := http.Get("http://" + h.endpoint.address + "/vote" + query)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%q is answered with %d", query, response.StatusCode)
		}
	}
	if fake.Calls.Load() != 0 {
		t.Error("the database was asked")
	}
}
