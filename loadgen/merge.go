package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"brownout/loadgen/control"
	"brownout/loadgen/merge"
)

const mergeUsage = `usage: loadgen merge RUN [--only load|ledger]

Combines the files of several generators, in RUN/parts/0, RUN/parts/1, … and RUN/parts.json, into the
files of the run directory RUN: series, outcomes, errors, lanes, seconds, histograms and generator.json
("load"), and ledger.ndjson ("ledger"). It replaces what was merged before and leaves the parts alone.

exit codes: 0 done; 1 a file of a part is damaged; 64 bad arguments;
            74 the run directory cannot be written
`

// mergeParts combines the files of a run's generators.
func mergeParts(arguments []string) int {
	flags := flag.NewFlagSet("merge", flag.ContinueOnError)
	only := flags.String("only", "", "")
	runs, code, ok := parse(flags, mergeUsage, arguments)
	switch {
	case !ok:
		return code
	case len(runs) != 1:
		return misused(fmt.Sprintf("`merge` takes one run directory, found %d", len(runs)))
	case *only != "" && *only != "load" && *only != "ledger":
		return misused(fmt.Sprintf("`--only` is %q (wanted load or ledger)", *only))
	}
	var err error
	if *only != "ledger" {
		err = merge.Load(runs[0])
	}
	if err == nil && *only != "load" {
		err = merge.Ledger(runs[0])
	}
	var disk *merge.WriteError
	switch {
	case err == nil:
		return control.ExitOK
	case errors.As(err, &disk):
		return failedWith(control.ExitNoDisk, err)
	}
	return failedWith(control.ExitFailed, err)
}

// failedWith prints the error without a prefix, because brownout shows it as it is.
func failedWith(code int, err error) int {
	fmt.Fprintln(os.Stderr, err)
	return code
}
