package control

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine"
	"brownout/loadgen/metrics"
	"brownout/loadgen/record"
	"brownout/loadgen/spec"
)

// Session is one generator process: at most one load.
type Session struct {
	version string
	out     *output
	born    time.Time

	spec      *spec.Spec
	driver    driver.Driver
	directory *record.Directory
	engine    *engine.Engine
	calmed    func() // ends what calms Go's sysmon during the schedule
	settings  map[string]any
	loaded    bool
	verified  bool
	stopped   bool
	reason    string // why the schedule ended
	broken    chan error

	// What the reader of commands needs as well:
	secrets atomic.Pointer[strings.Replacer]
	page    atomic.Pointer[metrics.Page] // once there is a load
	clock   sync.Mutex                   // guards t0
	t0      time.Time
}

// Run speaks the protocol until `exit`, the end of the input, or the end of
// ctx, and returns the process's exit code. In each case a running load is
// drained and its files are completed.
func Run(ctx context.Context, version string, in io.Reader, to io.Writer) int {
	s := &Session{version: version, out: newOutput(to), born: time.Now(), broken: make(chan error, 1)}
	s.secrets.Store(strings.NewReplacer())
	defer s.out.close()
	s.greet()
	code := s.serve(ctx, s.read(in))
	s.release()
	s.out.send(named("ended", event{"code": code}))
	return code
}

// greet tells that commands are read. Who comes later, as to a pod, asks for it.
func (s *Session) greet() { s.out.send(named("ready", event{"version": s.version})) }

// serve does one command after the other. After the end of the input a running
// load continues for a while: perhaps only its parent has died.
func (s *Session) serve(ctx context.Context, commands <-chan command) int {
	var linger <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return s.end("signal")
		case err := <-s.broken:
			return s.giveUp(err)
		case <-linger:
			return s.end("end of input")
		case next, more := <-commands:
			if !more {
				if !s.running() {
					return ExitOK
				}
				linger, commands = time.After(s.linger()), nil
				continue
			}
			if next.Cmd == "exit" {
				return s.end("exit")
			}
			if code, exit := s.handle(ctx, next); exit {
				return code
			}
		}
	}
}

func (s *Session) linger() time.Duration {
	return time.Duration(s.spec.LingerS * float64(time.Second))
}

// handle does one command; exit tells that the process cannot continue.
func (s *Session) handle(ctx context.Context, c command) (code int, exit bool) {
	commands := map[string]func(context.Context, command) error{
		"open": s.open, "load": s.load, "start": s.start,
		"stop":   func(context.Context, command) error { return s.stop("stop") },
		"verify": s.verify, "clean": s.clean,
	}
	do, known := commands[c.Cmd]
	if !known {
		s.complain("protocol", fmt.Errorf("unknown command %q", c.Cmd))
		return 0, false
	}
	err := do(ctx, c)
	if err == nil || ctx.Err() != nil {
		return 0, false
	}
	s.complain(c.Cmd, err)
	return fatal(err)
}

// running tells whether the schedule is running.
func (s *Session) running() bool { return s.started() && !s.stopped }

func (s *Session) started() bool {
	_, started := s.now()
	return started
}

// now is the time on the schedule's clock, once that is started.
func (s *Session) now() (time.Duration, bool) {
	s.clock.Lock()
	defer s.clock.Unlock()
	return time.Since(s.t0), !s.t0.IsZero()
}

// end completes the files of a running load.
func (s *Session) end(reason string) int {
	if !s.running() {
		return ExitOK
	}
	if err := s.stop(reason); err != nil {
		s.complain("stop", err)
		code, _ := fatal(err)
		return max(code, ExitFailed)
	}
	return ExitOK
}

// giveUp ends a load whose records cannot be kept.
func (s *Session) giveUp(err error) int {
	s.complain("run directory", err)
	_ = s.stop("the run directory cannot be written") // fails for the same reason
	return ExitNoDisk
}

// release gives everything up that is still held.
func (s *Session) release() {
	if s.driver != nil {
		s.driver.Close()
	}
	if s.directory != nil {
		_ = s.directory.CloseLedger()
	}
}
