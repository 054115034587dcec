// Package vote does votes: on a database directly, or through an HTTP endpoint in front of
// it, as the voting benchmark had. The endpoint is a process of its own.
package vote

import (
	"context"

	"brownout/loadgen/driver"
	"brownout/loadgen/model"
)

// Cast does the three steps of a vote one after the other, and none after one that was not
// ok. What became of each stands in the ballot.
func Cast(ctx context.Context, d driver.Driver, stream int, ballot *driver.Ballot) driver.Result {
	ballot.Parts = [driver.Steps]driver.Part{}
	for step := range driver.Steps {
		op := stepOf(stream, ballot, step)
		result := d.Do(ctx, &op)
		ballot.Parts[step] = partOf(&result)
		if result.Class != driver.OK {
			return together(result, step)
		}
	}
	return driver.Result{Class: driver.OK, Sent: true, Attempts: 1}
}

func stepOf(stream int, ballot *driver.Ballot, step int) driver.Op {
	switch step {
	case driver.StepRecord:
		key := model.VoterKey(ballot.Voter)
		record := driver.Properties{{Name: "vote", Value: ballot.Choice}}
		return driver.Op{
			Kind: driver.Insert, Stream: stream,
			Document: &driver.Document{Set: key.Set, ID: key.ID, Put: record},
		}
	case driver.StepTotal:
		return driver.Op{Kind: driver.Increment, Stream: stream, Verified: true, ID: ballot.Total}
	}
	return driver.Op{Kind: driver.Increment, Stream: stream, Verified: true, ID: ballot.Count}
}

func partOf(result *driver.Result) driver.Part {
	switch {
	case result.Class == driver.OK && result.Remade:
		return driver.PartRemade
	case result.Class == driver.OK:
		return driver.PartDone
	case result.Class == driver.InDoubt:
		return driver.PartInDoubt
	case result.Sent:
		return driver.PartFailed
	}
	return driver.PartUnsent
}

// together is the result of a vote of which a step was not ok: half a vote is in doubt as a
// whole, and is never done again.
func together(result driver.Result, step int) driver.Result {
	if step > 0 {
		result.Class, result.Sent, result.Retryable = driver.InDoubt, true, false
	}
	result.Found = false
	return result
}
