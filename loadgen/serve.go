package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"brownout/loadgen/control"
	"brownout/loadgen/scriptserver"
)

// serve answers as a script says, until a signal.
func serve(ctx context.Context, arguments []string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", "127.0.0.1:0", "")
	truth := flags.String("truth", "", "")
	scripts, err := parseAround(flags, arguments)
	switch {
	case err == flag.ErrHelp:
		fmt.Print(usage)
		return control.ExitOK
	case err != nil:
		return misused(err.Error())
	case len(scripts) != 1:
		return misused(fmt.Sprintf("`serve` takes one script, found %d", len(scripts)))
	}
	script, err := scriptserver.Read(scripts[0])
	if err != nil {
		return failed(control.ExitBadSpec, fmt.Errorf("%s: %w", scripts[0], err))
	}
	server, err := scriptserver.New(script, *listen)
	if err != nil {
		return failed(control.ExitFailed, err)
	}
	defer server.Close()
	return play(ctx, server, *truth)
}

// parseAround lets flags come before and after the other arguments.
func parseAround(flags *flag.FlagSet, arguments []string) (others []string, err error) {
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		if arguments = flags.Args(); len(arguments) == 0 {
			return others, nil
		}
		others, arguments = append(others, arguments[0]), arguments[1:]
	}
}

func failed(code int, err error) int {
	fmt.Fprintf(os.Stderr, "loadgen: %v\n", err)
	return code
}

// play tells where the server is, and keeps the file of the truth up to date.
func play(ctx context.Context, server *scriptserver.Server, truth string) int {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"event": "serving", "address": server.Address()})
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		code, over := control.ExitOK, false
		select {
		case <-ctx.Done():
			over = true
		case err := <-server.Failed():
			code, over = failed(control.ExitFailed, err), true
		case <-ticker.C:
		}
		if truth != "" {
			if err := server.WriteTruth(truth); err != nil {
				return failed(control.ExitNoDisk, err)
			}
		}
		if over {
			return code
		}
	}
}
