package runtime

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"brownout/infra/lab/kubernetes/container"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// outputs are a container's standard files: what it says goes to its log, and to every
// attached client; what an attached one says goes to it.
type outputs struct {
	stdin    *os.File // our end; nil where it has none
	once     bool     // it ends with the first attached client
	terminal *os.File // our end; nil where it has none
	copying  sync.WaitGroup
	mutex    sync.Mutex
	path     string
	log      *os.File
	attached map[*attached]bool
}

// attached is who listens to one container.
type attached struct{ stdout, stderr io.Writer }

// open makes the files of a container; the process's ends are the caller's to close.
func open(folder string, config *cri.ContainerConfig) (*outputs, container.Streams, error) {
	out := &outputs{
		once:     config.StdinOnce,
		path:     filepath.Join(folder, config.LogPath),
		attached: map[*attached]bool{},
	}
	if err := out.reopen(); err != nil {
		return nil, container.Streams{}, err
	}
	if config.Tty {
		return out.openTerminal()
	}
	return out.openPipes(config.Stdin)
}

func (o *outputs) openTerminal() (*outputs, container.Streams, error) {
	ours, theirs, err := container.Terminal()
	if err != nil {
		return nil, container.Streams{}, err
	}
	o.terminal, o.stdin = ours, ours
	o.copy(ours, "stdout")
	return o, container.Streams{Stdin: theirs, Stdout: theirs, Stderr: theirs}, nil
}

func (o *outputs) openPipes(stdin bool) (*outputs, container.Streams, error) {
	var streams container.Streams
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, streams, err
	}
	streams.Stdout = theirs
	stderr, theirs, err := os.Pipe()
	if err != nil {
		return nil, streams, err
	}
	streams.Stderr = theirs
	if stdin {
		if streams.Stdin, o.stdin, err = os.Pipe(); err != nil {
			return nil, streams, err
		}
	}
	o.copy(stdout, "stdout")
	o.copy(stderr, "stderr")
	return o, streams, nil
}

// reopen begins the log anew where it was moved away.
func (o *outputs) reopen() error {
	file, err := os.OpenFile(o.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.log != nil {
		o.log.Close()
	}
	o.log = file
	return nil
}

func (o *outputs) copy(from *os.File, name string) {
	o.copying.Go(func() {
		defer from.Close()
		reader := bufio.NewReaderSize(from, 16<<10)
		for {
			line, err := reader.ReadSlice('\n')
			if len(line) > 0 {
				o.tell(name, line)
			}
			if err != nil && err != bufio.ErrBufferFull {
				return
			}
		}
	})
}

// tell writes a line, or a part of a long one, as the kubelet reads it: time, stream, F for full or
// P for partial, text (parseCRILog in cri-client, pkg/logs/logs.go).
func (o *outputs) tell(name string, line []byte) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	whole, end := "F", ""
	if line[len(line)-1] != '\n' {
		whole, end = "P", "\n"
	}
	now := time.Now().Format(time.RFC3339Nano)
	fmt.Fprintf(o.log, "%s %s %s %s%s", now, name, whole, line, end)
	for each := range o.attached {
		to := each.stdout
		if name == "stderr" {
			to = each.stderr
		}
		if to != nil {
			_, _ = to.Write(line) // who has gone is detached soon
		}
	}
}

func (o *outputs) attach(listener *attached) (detach func()) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.attached[listener] = true
	return func() {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		delete(o.attached, listener)
	}
}

// finish waits until all that the container said is written.
func (o *outputs) finish() {
	o.copying.Wait()
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.log.Close()
	if o.stdin != nil {
		o.stdin.Close()
	}
}
