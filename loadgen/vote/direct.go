package vote

import (
	"context"

	"brownout/loadgen/driver"
)

// Lanes: a vote touches the nodes of three records, so it has no node of its own.
const (
	laneDirect = "votes"
	laneHTTP   = "http"
)

// Direct does votes on the database itself; all else goes to the driver as it is.
type Direct struct{ driver.Driver }

var _ driver.Driver = Direct{}

// Lane is one for all votes.
func (d Direct) Lane(op *driver.Op) string {
	if op.Kind == driver.Vote {
		return laneDirect
	}
	return d.Driver.Lane(op)
}

// Do does a vote step by step.
func (d Direct) Do(ctx context.Context, op *driver.Op) driver.Result {
	if op.Kind == driver.Vote {
		return Cast(ctx, d.Driver, op.Stream, op.Ballot)
	}
	return d.Driver.Do(ctx, op)
}

// Unwrap is the driver itself.
func (d Direct) Unwrap() driver.Driver { return d.Driver }
