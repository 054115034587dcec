package vote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"brownout/loadgen/child"
	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// patience is for the endpoint to connect to the database.
const patience = 45 * time.Second

// said is the endpoint's one line of output.
type said struct {
	Event   string `json:"event"`
	Address string `json:"address"`
	Message string `json:"message"`
}

// Run is the endpoint's process: the specification comes as JSON on in, and the end of in is
// the end. Its one line on out says where it serves, or why it does not.
func Run(ctx context.Context, in io.Reader, out io.Writer) error {
	err := run(ctx, in, out)
	if err != nil {
		_ = json.NewEncoder(out).Encode(said{Event: "error", Message: err.Error()})
	}
	return err
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	input := bufio.NewReaderSize(in, 1<<20)
	text, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the specification: %w", err)
	}
	wanted, err := spec.Parse(text)
	if err != nil {
		return err
	}
	stream := streamOf(wanted)
	if stream < 0 {
		return errors.New("the specification has no stream of votes through http")
	}
	d, err := driver.New(wanted.Driver)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Open(ctx, wanted.DriverConfig()); err != nil {
		return err
	}
	server, err := NewServer(wanted, stream, d)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(said{Event: "serving", Address: server.Address()}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	return server.Serve(ctx)
}

// streamOf is the first stream of votes through HTTP; -1 for none.
func streamOf(s *spec.Spec) int {
	for i := range s.Streams {
		if vote := s.Streams[i].Vote; vote != nil && vote.Through == spec.HTTP {
			return i
		}
	}
	return -1
}

// endpoint is the process, seen from the load.
type endpoint struct {
	address string
	process *exec.Cmd
	input   io.WriteCloser
}

// start runs the endpoint: this binary, as `loadgen vote`. It ends with its input, and so
// with us, however we end.
func start(wanted *spec.Spec) (*endpoint, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	process := exec.Command(own, "vote")
	process.Stderr = os.Stderr
	child.Separate(process)
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting the voting endpoint: %w", err)
	}
	e := &endpoint{process: process, input: input}
	if err := e.await(append(text, '\n'), output); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// await hands the specification over and waits for the address.
func (e *endpoint) await(text []byte, output io.Reader) error {
	if _, err := e.input.Write(text); err != nil {
		return fmt.Errorf("starting the voting endpoint: %w", err)
	}
	heard := make(chan said, 1)
	go func() {
		var line said
		if err := json.NewDecoder(output).Decode(&line); err != nil {
			line.Message = fmt.Sprintf("it ended without a word: %v", err)
		}
		heard <- line
	}()
	select {
	case line := <-heard:
		if line.Event != "serving" {
			return fmt.Errorf("the voting endpoint does not serve: %s", line.Message)
		}
		e.address = line.Address
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the voting endpoint said nothing for %v", patience)
	}
}

func (e *endpoint) close() {
	_ = e.input.Close()
	ended := make(chan struct{})
	go func() {
		_ = e.process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = e.process.Process.Kill()
		<-ended
	}
}
