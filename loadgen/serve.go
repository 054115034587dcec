package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"brownout/loadgen/control"
	"brownout/loadgen/scriptserver"
)

// serve answers as a script says, until a signal.
func serve(ctx context.Context, arguments []string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "")
	truth := flags.String("truth", "", "")
	scripts, code, ok := parse(flags, usage, arguments)
	switch {
	case !ok:
		return code
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
