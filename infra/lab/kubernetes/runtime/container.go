package runtime

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"brownout/infra/lab/kubernetes/container"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// running is a container: made, then started once, then ended. Its mutex guards what changes.
type running struct {
	id      string
	pod     *sandbox
	config  *cri.ContainerConfig
	spec    container.Spec
	created int64
	mutex   sync.Mutex
	process *container.Process
	outputs *outputs
	started int64
	ended   int64
	code    int
	reason  string
	message string
	done    chan struct{} // closed when it has ended and its log is whole
}

// CreateContainer keeps what is to be started.
func (r *Runtime) CreateContainer(
	_ context.Context, request *cri.CreateContainerRequest,
) (*cri.CreateContainerResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	pod := r.sandboxes[request.PodSandboxId]
	if pod == nil {
		return nil, missing("pod", request.PodSandboxId)
	}
	made := &running{
		id:      newID(),
		pod:     pod,
		config:  request.Config,
		created: time.Now().UnixNano(),
		done:    make(chan struct{}),
	}
	spec, err := r.spec(made)
	if err != nil {
		return nil, err
	}
	made.spec = spec
	r.running[made.id] = made
	return &cri.CreateContainerResponse{ContainerId: made.id}, nil
}

// StartContainer returns once the container's own command runs.
func (r *Runtime) StartContainer(
	_ context.Context, request *cri.StartContainerRequest,
) (*cri.StartContainerResponse, error) {
	each, err := r.find(request.ContainerId)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(each.spec.Directory, 0o700); err != nil {
		return nil, err
	}
	shared, err := r.shared(each)
	if err != nil {
		return nil, err
	}
	if err := each.start(shared); err != nil {
		each.end(128, "StartError", err.Error()) // as containerd says it
		return nil, err
	}
	return &cri.StartContainerResponse{}, nil
}

func (c *running) start(shared container.Namespaces) error {
	outputs, streams, err := open(c.pod.config.LogDirectory, c.config)
	if err != nil {
		return err
	}
	process, err := container.Start(c.spec, shared, streams)
	streams.Close()
	if err != nil {
		outputs.finish()
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.process, c.outputs, c.started = process, outputs, time.Now().UnixNano()
	go c.await()
	return nil
}

func (c *running) await() {
	<-c.process.Done
	c.outputs.finish()
	code, reason := c.process.Code(), "Completed"
	if code != 0 {
		reason = "Error"
	}
	c.end(code, reason, "")
}

func (c *running) end(code int, reason, message string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ended, c.code, c.reason, c.message = time.Now().UnixNano(), code, reason, message
	if c.started == 0 {
		c.started = c.ended
	}
	close(c.done)
}

// StopContainer asks a container to end, and makes it when its time is over.
func (r *Runtime) StopContainer(
	_ context.Context, request *cri.StopContainerRequest,
) (*cri.StopContainerResponse, error) {
	each, err := r.find(request.ContainerId)
	if err != nil {
		return &cri.StopContainerResponse{}, nil // safe to repeat, says api.proto
	}
	if process := each.alive(); process != nil && request.Timeout > 0 {
		process.Signal(syscall.SIGTERM)
		select {
		case <-each.done:
		case <-time.After(time.Duration(request.Timeout) * time.Second):
		}
	}
	each.kill()
	return &cri.StopContainerResponse{}, nil
}

// kill ends it now and returns when it has ended.
func (c *running) kill() {
	if process := c.alive(); process != nil {
		process.Signal(syscall.SIGKILL)
		<-c.done
	}
}

func (c *running) alive() *container.Process {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended != 0 {
		return nil
	}
	return c.process
}

// RemoveContainer forgets a container and what it wrote; safe to repeat.
func (r *Runtime) RemoveContainer(
	_ context.Context, request *cri.RemoveContainerRequest,
) (*cri.RemoveContainerResponse, error) {
	each, err := r.find(request.ContainerId)
	if err != nil {
		return &cri.RemoveContainerResponse{}, nil
	}
	return &cri.RemoveContainerResponse{}, r.remove(each)
}

func (r *Runtime) remove(each *running) error {
	each.kill()
	r.mutex.Lock()
	delete(r.running, each.id)
	r.mutex.Unlock()
	return os.RemoveAll(each.spec.Directory)
}

func (r *Runtime) find(id string) (*running, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if each := r.running[id]; each != nil {
		return each, nil
	}
	return nil, missing("container", id)
}

func (r *Runtime) containersOf(pod string) []*running {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var all []*running
	for _, each := range r.running {
		if each.pod.id == pod {
			all = append(all, each)
		}
	}
	return all
}

// shared says whose processes a container sees (NamespaceMode of api.proto).
func (r *Runtime) shared(each *running) (container.Namespaces, error) {
	options := each.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
	switch options.GetPid() {
	case cri.NamespaceMode_NODE:
		return container.Namespaces{HostPID: true}, nil
	case cri.NamespaceMode_POD:
		return container.Namespaces{PID: each.pod.pause.PID}, nil
	case cri.NamespaceMode_TARGET:
		target, err := r.find(options.GetTargetId())
		if err != nil {
			return container.Namespaces{}, err
		}
		if process := target.alive(); process != nil {
			return container.Namespaces{PID: process.PID}, nil
		}
		return container.Namespaces{}, fmt.Errorf("container %s does not run", target.id)
	}
	return container.Namespaces{}, nil
}
