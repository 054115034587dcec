package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"brownout/loadgen/control"
	"brownout/loadgen/depot"
)

// endWithin is what a generator has for draining what is in flight, and its files.
const endWithin = 30 * time.Second

// runInDepot applies a load whose files wait in a depot when it is over.
func runInDepot(ctx context.Context, kept depot.Depot, holdS float64) int {
	if err := kept.Open(); err != nil {
		return failed(control.ExitNoDisk, err)
	}
	code := control.Run(ctx, version, os.Stdin, os.Stdout)
	if err := kept.Hold(code, time.Duration(holdS*float64(time.Second))); err != nil {
		return failed(control.ExitNoDisk, err)
	}
	return code
}

// keep does something with the depot of a generator that runs beside us.
func keep(arguments []string) int {
	if len(arguments) < 2 {
		return misused(fmt.Sprintf("`depot` takes what to do and a directory, found %q", arguments))
	}
	what, where, others := arguments[0], depot.At(arguments[len(arguments)-1]), arguments[1:len(arguments)-1]
	var err error
	switch {
	case what == "take" && len(others) == 1:
		err = where.Take(others[0], os.Stdin)
	case what == "take" || len(others) > 0:
		return misused(fmt.Sprintf("`depot %s` does not take %q", what, others))
	case what == "send":
		err = where.Send(os.Stdout)
	case what == "release":
		err = where.Release()
	case what == "end":
		_, err = where.End(endWithin)
	default:
		return misused(fmt.Sprintf("`depot` cannot %q", what))
	}
	if err != nil {
		return failed(control.ExitFailed, err)
	}
	return control.ExitOK
}
