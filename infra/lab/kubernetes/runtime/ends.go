package runtime

import (
	"io"
	"os"
	"sync"

	"brownout/infra/lab/kubernetes/container"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// ends are ours of a command's files.
type ends struct {
	files   []*os.File
	copying sync.WaitGroup
}

// drain waits until all that the command said is passed on.
func (e *ends) drain() {
	e.copying.Wait()
	e.close()
}

func (e *ends) close() {
	for _, file := range e.files {
		file.Close()
	}
}

func pipes(
	in io.Reader, out, errors io.Writer, tty bool, resize <-chan remotecommand.TerminalSize,
) (*ends, container.Streams, error) {
	found := &ends{}
	var streams container.Streams
	if tty {
		ours, theirs, err := container.Terminal()
		if err != nil {
			return nil, streams, err
		}
		found.files = append(found.files, ours)
		found.receive(ours, out)
		send(in, ours, false)
		go follow(ours, resize)
		return found, container.Streams{Stdin: theirs, Stdout: theirs, Stderr: theirs}, nil
	}
	var err error
	if streams.Stdout, err = found.output(out); err != nil {
		return nil, streams, err
	}
	if streams.Stderr, err = found.output(errors); err != nil {
		return nil, streams, err
	}
	if in != nil {
		theirs, ours, err := os.Pipe()
		if err != nil {
			return nil, streams, err
		}
		streams.Stdin = theirs
		found.files = append(found.files, ours)
		send(in, ours, true)
	}
	return found, streams, nil
}

func (e *ends) output(to io.Writer) (*os.File, error) {
	if to == nil {
		return nil, nil
	}
	ours, theirs, err := os.Pipe()
	if err == nil {
		e.files = append(e.files, ours)
		e.receive(ours, to)
	}
	return theirs, err
}

func (e *ends) receive(from *os.File, to io.Writer) {
	e.copying.Go(func() { _, _ = io.Copy(to, from) }) // a terminal ends with EIO
}

func send(from io.Reader, to *os.File, ends bool) {
	if from == nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from) // who has closed it wants no more
		if ends {
			to.Close()
		}
	}()
}

func follow(terminal *os.File, sizes <-chan remotecommand.TerminalSize) {
	for size := range sizes {
		_ = container.Resize(terminal, size.Width, size.Height) // gone with its command
	}
}
