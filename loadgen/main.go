// Command loadgen applies a steady load to a database and writes down what
// became of every operation. See docs/generator.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"syscall"

	"brownout/loadgen/control"
	"brownout/loadgen/depot"
	_ "brownout/loadgen/driver/aerospike"
	_ "brownout/loadgen/driver/cassandra"
	_ "brownout/loadgen/driver/couchbase"
	_ "brownout/loadgen/driver/etcd"
	_ "brownout/loadgen/driver/mongodb"
	_ "brownout/loadgen/driver/postgresql"
	_ "brownout/loadgen/driver/redis"
	_ "brownout/loadgen/driver/scripted"
	"brownout/loadgen/scriptclient"
	"brownout/loadgen/vote"
)

// version is set when the binary is linked.
var version = "dev"

const usage = `usage: loadgen run [--depot DIR [--hold SECONDS]] [--pprof PATH]
                                          apply a load; commands are lines of JSON on stdin; with a
                                          depot its files wait there after the end to be fetched;
                                          --pprof writes a profile of the processor time
       loadgen check                      say of each specification on stdin whether a load would take it,
                                          and why not: {"ok": …, "problems": […]}, a line each
       loadgen claim take|look|release    what is done with the claim of a run that lies in the database; the order
                                          is JSON on stdin, the answer JSON on stdout
       loadgen depot send|take FOLDER|end|release DIR
                                          what is done with the depot of a generator in a pod
       loadgen merge RUN [--only load|ledger]
                                          make a run's files of those of its several generators
       loadgen columns FILE…              write the large files of a run column by column
       loadgen percentiles LOG RATIO…     write percentiles of histograms of a latency.hlog
       loadgen serve SCRIPT [--listen HOST:PORT] [--truth FILE]
                                          answer as a script says, to test measurements with
       loadgen script-client              do operations on such a server as a client of docs/client.md does
       loadgen vote                       answer /vote?u=VOTER&v=CHOICE; the spec is a line of JSON on
                                          stdin, the end of stdin the end; a load starts it itself
       loadgen --version

exit codes: 0 done, also after SIGINT, SIGTERM or the end of the input; 1 failed;
            64 bad arguments, spec or script; 74 the run directory cannot be written
`

func main() { os.Exit(command(os.Args[1:])) }

func command(arguments []string) int {
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	show := flags.Bool("version", false, "")
	switch err := flags.Parse(arguments); {
	case err == flag.ErrHelp:
		fmt.Print(usage)
		return control.ExitOK
	case err != nil:
		return misused(err.Error())
	case *show:
		fmt.Println(version)
		return control.ExitOK
	}
	ctx, stop := untilSignal()
	defer stop()
	switch flags.Arg(0) {
	case "run":
		return run(ctx, flags.Args()[1:])
	case "check":
		return check(flags.Args()[1:], os.Stdin, os.Stdout)
	case "claim":
		return keepClaim(ctx, flags.Args()[1:], os.Stdin, os.Stdout)
	case "depot":
		return keep(flags.Args()[1:])
	case "merge":
		return mergeParts(flags.Args()[1:])
	case "columns":
		return columns(flags.Args()[1:])
	case "percentiles":
		return percentiles(flags.Args()[1:])
	case "serve":
		return serve(ctx, flags.Args()[1:])
	case "script-client":
		return beClient(flags.Args()[1:])
	case "vote":
		return serveVotes(ctx, flags.Args()[1:])
	case "":
		return misused("no command")
	}
	return misused(fmt.Sprintf("unknown command %q", flags.Arg(0)))
}

// parse takes a command's options out of its arguments, before and after the others, which it
// returns. Where it is not ok, the command ends with the code: it was asked for help, or wrongly.
func parse(flags *flag.FlagSet, help string, arguments []string) (others []string, code int, ok bool) {
	flags.SetOutput(io.Discard)
	for {
		switch err := flags.Parse(arguments); {
		case err == flag.ErrHelp:
			fmt.Print(help)
			return nil, control.ExitOK, false
		case err != nil:
			return nil, misused(err.Error()), false
		}
		if arguments = flags.Args(); len(arguments) == 0 {
			return others, control.ExitOK, true
		}
		others, arguments = append(others, arguments[0]), arguments[1:]
	}
}

func misused(problem string) int {
	fmt.Fprintf(os.Stderr, "loadgen: %s\n%s", problem, usage)
	return control.ExitBadSpec
}

// untilSignal ends at the first signal; a second one ends the process.
func untilSignal() (context.Context, context.CancelFunc) {
	// A reader that is gone or a file at its limit is an error, not the end.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// beClient is the client of a stream on a scripted server.
func beClient(arguments []string) int {
	if len(arguments) > 0 {
		return misused(fmt.Sprintf("`script-client` takes no arguments, found %q", arguments[0]))
	}
	if err := scriptclient.Run(os.Stdin, os.Stdout); err != nil {
		return failed(control.ExitFailed, err)
	}
	return control.ExitOK
}

// serveVotes is the endpoint of a voting workload.
func serveVotes(ctx context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return misused(fmt.Sprintf("`vote` takes no arguments, found %q", arguments[0]))
	}
	if err := vote.Run(ctx, os.Stdin, os.Stdout); err != nil {
		return control.ExitFailed
	}
	return control.ExitOK
}

func run(ctx context.Context, arguments []string) int {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	where := flags.String("depot", "", "")
	hold := flags.Float64("hold", 900, "")
	profile := flags.String("pprof", "", "")
	others, code, ok := parse(flags, usage, arguments)
	switch {
	case !ok:
		return code
	case len(others) > 0:
		return misused(fmt.Sprintf("`run` takes no arguments but its options, found %q", others[0]))
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err == nil {
			defer file.Close()
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			return failed(control.ExitFailed, fmt.Errorf("--pprof: %w", err))
		}
		defer pprof.StopCPUProfile()
	}
	// The live heap is a few MB: collect less often, for steadier times.
	debug.SetGCPercent(400)
	if *where != "" {
		return runInDepot(ctx, depot.At(*where), *hold)
	}
	return control.Run(ctx, version, os.Stdin, os.Stdout)
}
