package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"brownout/loadgen/child"
)

const (
	openPatience  = 60 * time.Second
	closePatience = 5 * time.Second
	restartPause  = time.Second
	longestLine   = 16 << 20
	// waiting is how many requests may wait for a client that does not read.
	waiting = 1024
)

// errEnded is why a request that was sent got no answer; errDown, why one was not sent.
var (
	errEnded = errors.New("the client ended")
	errDown  = errors.New("the client is down")
)

// process is the program of one stream, which is started again where it ends.
type process struct {
	command []string
	opening request
	closing context.Context // over: it is not started again
	end     context.CancelFunc

	mu      sync.Mutex
	current *life
	opened  answer    // of the first life
	strange sync.Once // the first line that is not an answer is told
	done    chan struct{}
}

// life is one process from its start to its end.
type life struct {
	command *exec.Cmd
	send    chan outgoing
	stop    chan struct{} // closed: nothing is sent any more
	ended   chan struct{}

	mu      sync.Mutex
	pending map[uint64]chan<- answer
}

// outgoing is a request that waits until the client reads; after `until` it is not sent.
type outgoing struct {
	request
	until time.Time // zero: always
}

// line is what is sent now, or nil if it is too late.
func (o outgoing) line() []byte {
	if !o.until.IsZero() {
		left := time.Until(o.until)
		if left <= 0 {
			return nil
		}
		o.DeadlineMS = max(1, left.Milliseconds())
	}
	text, err := json.Marshal(o.request)
	if err != nil {
		panic(err) // it is ours
	}
	return append(text, '\n')
}

// start starts it and waits until it is open.
func start(ctx context.Context, command []string, opening request) (*process, error) {
	closing, end := context.WithCancel(context.Background())
	p := &process{command: command, opening: opening, closing: closing, end: end, done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	first, opened, err := p.begin(ctx)
	if err != nil {
		end()
		return nil, fmt.Errorf("the client `%s`: %w", strings.Join(command, " "), err)
	}
	p.current, p.opened = first, opened
	go p.keep(first)
	return p, nil
}

// begin starts one life.
func (p *process) begin(ctx context.Context) (*life, answer, error) {
	command := exec.Command(p.command[0], p.command[1:]...) //nolint:gosec // it is the user's own
	command.Stderr = os.Stderr
	child.Separate(command)
	stdin, err1 := command.StdinPipe()
	stdout, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		return nil, answer{}, err
	}
	l := &life{
		command: command, send: make(chan outgoing, waiting), stop: make(chan struct{}), ended: make(chan struct{}),
		pending: map[uint64]chan<- answer{},
	}
	opened := make(chan answer, 1)
	go l.write(stdin)
	go p.read(l, stdout, opened)
	l.send <- outgoing{request: p.opening}
	select {
	case got := <-opened:
		if got.Error != "" {
			l.kill()
			return nil, got, errors.New(got.Error)
		}
		return l, got, nil
	case <-l.ended:
		return nil, answer{}, errors.New("it exited before it answered `open`; see its output above in generator.log")
	case <-ctx.Done():
		l.kill()
		return nil, answer{}, errors.New("it did not answer `open` in time")
	}
}

// keep starts it again whenever it ends, until it is closed.
func (p *process) keep(l *life) {
	defer close(p.done)
	for {
		<-l.ended
		for {
			p.mu.Lock()
			p.current = nil
			p.mu.Unlock()
			select {
			case <-p.closing.Done():
				return
			case <-time.After(restartPause):
			}
			ctx, cancel := context.WithTimeout(p.closing, openPatience)
			next, _, err := p.begin(ctx)
			cancel()
			if err != nil {
				continue
			}
			p.mu.Lock()
			p.current = next
			p.mu.Unlock()
			if p.closing.Err() != nil {
				next.kill()
			}
			l = next
			break
		}
	}
}

// ask sends a request and waits for its answer. sent tells whether the client may have got it.
func (p *process) ask(ctx context.Context, r request) (got answer, sent bool, err error) {
	p.mu.Lock()
	l := p.current
	p.mu.Unlock()
	if l == nil {
		return got, false, errDown
	}
	// The context's end may come late or never: its deadline counts.
	until, is := ctx.Deadline()
	if !is {
		until = time.Now().Add(time.Hour)
	}
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	answers := make(chan answer, 1)
	l.mu.Lock()
	l.pending[r.ID] = answers
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.pending, r.ID)
		l.mu.Unlock()
	}()
	select {
	case l.send <- outgoing{r, until}:
	case <-l.ended:
		return got, false, errDown
	case <-over.C:
		return got, false, context.DeadlineExceeded
	case <-ctx.Done():
		return got, false, ctx.Err()
	}
	select {
	case got = <-answers:
		return got, true, nil
	case <-l.ended:
		return got, true, errEnded
	case <-over.C:
		return got, true, context.DeadlineExceeded
	case <-ctx.Done():
		return got, true, ctx.Err()
	}
}

func (p *process) close() {
	p.mu.Lock()
	l := p.current
	p.mu.Unlock()
	p.end()
	if l != nil {
		select {
		case l.send <- outgoing{request: request{Do: doClose}}:
		default:
		}
		close(l.stop)
		select {
		case <-l.ended:
		case <-time.After(closePatience):
			l.kill()
		}
	}
	<-p.done
}

func (l *life) write(stdin io.WriteCloser) {
	defer stdin.Close()
	out := bufio.NewWriterSize(stdin, 1<<16)
	for {
		select {
		case next := <-l.send:
			if _, err := out.Write(next.line()); err != nil || (len(l.send) == 0 && out.Flush() != nil) {
				return
			}
		case <-l.ended:
			return
		case <-l.stop:
			for len(l.send) > 0 {
				_, _ = out.Write((<-l.send).line())
			}
			_ = out.Flush()
			return
		}
	}
}

// read hands each answer to who waits for it, until the client ends.
func (p *process) read(l *life, stdout io.Reader, opened chan<- answer) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 1<<16), longestLine)
	for lines.Scan() {
		var got answer
		if json.Unmarshal(lines.Bytes(), &got) != nil || (got.ID == nil && got.Opened == "" && got.Error == "") {
			text := lines.Text()
			p.strange.Do(func() {
				fmt.Fprintf(os.Stderr, "client `%s`: not an answer: %.200s\n", strings.Join(p.command, " "), text)
			})
			continue
		}
		if got.ID == nil {
			select {
			case opened <- got:
			default:
			}
			continue
		}
		l.mu.Lock()
		waits := l.pending[*got.ID]
		delete(l.pending, *got.ID)
		l.mu.Unlock()
		if waits != nil {
			waits <- got
		}
	}
	l.kill() // a client that closed its stdout, or sent a line that is too long, cannot answer any more
	_ = l.command.Wait()
	close(l.ended)
}

func (l *life) kill() { child.Kill(l.command) }
