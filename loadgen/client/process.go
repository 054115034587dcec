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

	mu      sync.Mutex
	current *life
	opened  answer // of the first life
	closed  bool
	strange sync.Once // the first line that is not an answer is told
	done    chan struct{}
}

// life is one process from its start to its end.
type life struct {
	command *exec.Cmd
	send    chan []byte
	stop    chan struct{} // closed: nothing is sent any more
	ended   chan struct{}

	mu      sync.Mutex
	pending map[uint64]chan<- answer
}

// start starts it and waits until it is open.
func start(ctx context.Context, command []string, opening request) (*process, error) {
	p := &process{command: command, opening: opening, done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	first, opened, err := p.begin(ctx)
	if err != nil {
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
	stdin, err1 := command.StdinPipe()
	stdout, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		return nil, answer{}, err
	}
	l := &life{
		command: command, send: make(chan []byte, waiting), stop: make(chan struct{}), ended: make(chan struct{}),
		pending: map[uint64]chan<- answer{},
	}
	opened := make(chan answer, 1)
	go l.write(stdin)
	go p.read(l, stdout, opened)
	l.send <- line(p.opening)
	select {
	case got := <-opened:
		if got.Error != "" {
			l.kill()
			return nil, got, errors.New(got.Error)
		}
		return l, got, nil
	case <-l.ended:
		return nil, answer{}, errors.New("it ended before it was open; its words are above, in generator.log")
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
			closed := p.closed
			p.mu.Unlock()
			if closed {
				return
			}
			time.Sleep(restartPause)
			ctx, cancel := context.WithTimeout(context.Background(), openPatience)
			next, _, err := p.begin(ctx)
			cancel()
			if err != nil {
				continue
			}
			p.mu.Lock()
			p.current, closed = next, p.closed
			p.mu.Unlock()
			if closed {
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
	wait := time.Hour
	if deadline, is := ctx.Deadline(); is {
		wait = time.Until(deadline)
	}
	r.DeadlineMS = max(1, wait.Milliseconds())
	over := time.NewTimer(wait)
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
	case l.send <- line(r):
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
	p.closed = true
	p.mu.Unlock()
	if l != nil {
		select {
		case l.send <- line(request{Do: doClose}):
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

func line(r request) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it is ours
	}
	return append(text, '\n')
}

func (l *life) write(stdin io.WriteCloser) {
	defer stdin.Close()
	out := bufio.NewWriterSize(stdin, 1<<16)
	for {
		select {
		case text := <-l.send:
			if _, err := out.Write(text); err != nil || (len(l.send) == 0 && out.Flush() != nil) {
				return
			}
		case <-l.ended:
			return
		case <-l.stop:
			for len(l.send) > 0 {
				_, _ = out.Write(<-l.send)
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

func (l *life) kill() { _ = l.command.Process.Kill() }
