package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// streamed is what the streaming server asks for exec, attach and port-forward.
type streamed struct{ *Runtime }

// Exec returns where to stream an exec.
func (r *Runtime) Exec(_ context.Context, request *cri.ExecRequest) (*cri.ExecResponse, error) {
	return r.streams.GetExec(request)
}

// Attach returns where to stream an attach.
func (r *Runtime) Attach(
	_ context.Context, request *cri.AttachRequest,
) (*cri.AttachResponse, error) {
	return r.streams.GetAttach(request)
}

// PortForward returns where to stream to a port.
func (r *Runtime) PortForward(
	_ context.Context, request *cri.PortForwardRequest,
) (*cri.PortForwardResponse, error) {
	return r.streams.GetPortForward(request)
}

// ExecSync runs a command and returns what it said, for probes and hooks.
func (r *Runtime) ExecSync(
	ctx context.Context, request *cri.ExecSyncRequest,
) (*cri.ExecSyncResponse, error) {
	if request.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(request.Timeout)*time.Second)
		defer cancel()
		ctx = limited
	}
	var stdout, stderr bytes.Buffer
	err := streamed{r}.Exec(ctx, request.ContainerId, request.Cmd, nil,
		keep{&stdout}, keep{&stderr}, false, nil)
	var code exec.CodeExitError
	if err != nil && !errors.As(err, &code) {
		return nil, err
	}
	return &cri.ExecSyncResponse{
		Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: int32(code.Code),
	}, nil
}

type keep struct{ io.Writer }

func (keep) Close() error { return nil }

// Exec runs a command in a container until it ends; its exit code other than 0 is the error.
func (s streamed) Exec(
	ctx context.Context, id string, command []string, in io.Reader, out, errors io.WriteCloser,
	tty bool, resize <-chan remotecommand.TerminalSize,
) error {
	each, err := s.find(id)
	if err != nil {
		return err
	}
	process := each.alive()
	if process == nil {
		return fmt.Errorf("container %s does not run", id)
	}
	spec := each.spec
	spec.Arguments, spec.Terminal = command, tty
	ends, streams, err := pipes(in, out, errors, tty, resize)
	if err != nil {
		return err
	}
	inside, err := process.Enter(spec, streams)
	streams.Close()
	if err != nil {
		ends.close()
		return fmt.Errorf("exec in container: %w", err)
	}
	select {
	case <-inside.Done:
	case <-ctx.Done():
		inside.Signal(syscall.SIGKILL)
		<-inside.Done
	}
	ends.drain()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if code := inside.Code(); code != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	}
	return nil
}

// Attach passes on what a container says until it ends, and to it what is said.
func (s streamed) Attach(
	ctx context.Context, id string, in io.Reader, out, errors io.WriteCloser,
	_ bool, resize <-chan remotecommand.TerminalSize,
) error {
	each, err := s.find(id)
	if err != nil {
		return err
	}
	if each.alive() == nil {
		return fmt.Errorf("container %s does not run", id)
	}
	listener := &attached{}
	if out != nil {
		listener.stdout = out
	}
	if errors != nil {
		listener.stderr = errors
	}
	defer each.outputs.attach(listener)()
	if in != nil && each.outputs.stdin != nil {
		send(in, each.outputs.stdin, each.outputs.once)
	}
	if each.outputs.terminal != nil {
		go follow(each.outputs.terminal, resize)
	}
	select {
	case <-each.done:
	case <-ctx.Done():
	}
	return nil
}

// PortForward connects to a port of a pod, or of this machine's loopback, as the pod's own would be.
func (s streamed) PortForward(
	_ context.Context, id string, port int32, stream io.ReadWriteCloser,
) error {
	s.mutex.Lock()
	pod := s.sandboxes[id]
	s.mutex.Unlock()
	if pod == nil {
		return missing("pod", id)
	}
	connection, err := net.Dial("tcp", net.JoinHostPort(pod.address, fmt.Sprint(port)))
	if err != nil {
		connection, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	}
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() { _, _ = io.Copy(connection, stream) }()
	_, err = io.Copy(stream, connection)
	return err
}

// ReopenContainerLog begins a container's log anew.
func (r *Runtime) ReopenContainerLog(
	_ context.Context, request *cri.ReopenContainerLogRequest,
) (*cri.ReopenContainerLogResponse, error) {
	each, err := r.find(request.ContainerId)
	if err != nil {
		return nil, err
	}
	if each.alive() == nil {
		return nil, fmt.Errorf("container %s does not run", each.id)
	}
	return &cri.ReopenContainerLogResponse{}, each.outputs.reopen()
}
