package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strconv"

	"brownout/loadgen/control"
	"brownout/loadgen/runfile"
)

const columnsUsage = `usage: loadgen columns FILE…

Reads files of a run, series.csv, outcomes.csv, lanes.csv or latency.hlog, and writes for each a line
of JSON, {"labels": [TEXT, …], "columns": [[NAME, TYPE, ROWS], …]}, and after it the columns,
little-endian and each padded to a multiple of 8 bytes. The labels are the stream and operation of
each row of a bucket, the lanes, or the tags of the log. Of a histogram it writes where its payload is.

exit codes: 0 done; 1 a file cannot be read or is damaged; 64 bad arguments
`

const percentilesUsage = `usage: loadgen percentiles LOG RATIO…

Reads histograms of the latency.hlog LOG and writes the time in µs of each ratio, 0 to 1 and
ascending, in each row, or -1 in a row without operations. Stdin says which payloads a row is the sum
of: row, place and size of each payload, in ascending order of rows. All are whole numbers of 64
bits, little-endian.

exit codes: 0 done; 1 the file cannot be read or is damaged; 64 bad arguments
`

// columns writes what files of a run hold, for brownout to read.
func columns(arguments []string) int {
	files, code, ok := parse(flag.NewFlagSet("columns", flag.ContinueOnError), columnsUsage, arguments)
	switch {
	case !ok:
		return code
	case len(files) == 0:
		return misused("`columns` takes the files to read, found none")
	}
	found, err := runfile.ReadColumns(files)
	if err != nil {
		return failedWith(control.ExitFailed, err)
	}
	for _, one := range found {
		if err := one.Write(os.Stdout); err != nil {
			return failedWith(control.ExitFailed, err)
		}
	}
	return control.ExitOK
}

// percentiles writes the percentiles of histograms, row by row.
func percentiles(arguments []string) int {
	words, code, ok := parse(flag.NewFlagSet("percentiles", flag.ContinueOnError), percentilesUsage, arguments)
	switch {
	case !ok:
		return code
	case len(words) < 2:
		return misused(fmt.Sprintf("`percentiles` takes a latency log and ratios, found %d words", len(words)))
	}
	ratios := make([]float64, len(words)-1)
	for i, text := range words[1:] {
		ratio, err := strconv.ParseFloat(text, 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) || i > 0 && ratio < ratios[i-1] {
			return misused(fmt.Sprintf("found the ratio %q (wanted 0 to 1, ascending)", text))
		}
		ratios[i] = ratio
	}
	stored, err := runfile.ReadStored(os.Stdin)
	if err != nil {
		return misused(err.Error())
	}
	found, err := runfile.Percentiles(words[0], stored, ratios)
	if err == nil {
		err = binary.Write(os.Stdout, binary.LittleEndian, found)
	}
	if err != nil {
		return failedWith(control.ExitFailed, err)
	}
	return control.ExitOK
}
