package runtime

import (
	"context"
	"os"
	"syscall"
	"time"

	"brownout/infra/lab/kubernetes/container"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandbox is a pod: what its containers share.
type sandbox struct {
	id      string
	config  *cri.PodSandboxConfig
	created int64
	ready   bool
	address string
	pause   *container.Process // PID 1 of a pod whose containers see each other's processes
}

// RunPodSandbox makes a pod without containers.
func (r *Runtime) RunPodSandbox(
	_ context.Context, request *cri.RunPodSandboxRequest,
) (*cri.RunPodSandboxResponse, error) {
	pod := request.Config
	made := &sandbox{id: newID(), config: pod, created: time.Now().UnixNano(), ready: true}
	if made.namespaces().GetNetwork() != cri.NamespaceMode_NODE {
		made.address = address(r.config.Plane, pod.Metadata.Namespace, pod.Metadata.Name)
	}
	if made.namespaces().GetPid() == cri.NamespaceMode_POD {
		if err := r.startPause(made); err != nil {
			return nil, err
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sandboxes[made.id] = made
	return &cri.RunPodSandboxResponse{PodSandboxId: made.id}, nil
}

func (r *Runtime) startPause(pod *sandbox) (err error) {
	if err = os.MkdirAll(r.directory(pod.id), 0o700); err != nil {
		return err
	}
	spec := container.Spec{
		Directory: r.directory(pod.id), Hidden: r.config.Hidden, Hostname: pod.config.Hostname,
	}
	pod.pause, err = container.Start(spec, container.Namespaces{}, container.Streams{})
	return err
}

func (s *sandbox) namespaces() *cri.NamespaceOption {
	return s.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
}

// StopPodSandbox ends whatever still runs in a pod; safe to repeat.
func (r *Runtime) StopPodSandbox(
	_ context.Context, request *cri.StopPodSandboxRequest,
) (*cri.StopPodSandboxResponse, error) {
	for _, each := range r.containersOf(request.PodSandboxId) {
		each.kill()
	}
	r.mutex.Lock()
	pod := r.sandboxes[request.PodSandboxId]
	r.mutex.Unlock()
	if pod != nil && pod.pause != nil {
		pod.pause.Signal(syscall.SIGKILL)
		<-pod.pause.Done
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if pod != nil {
		pod.ready = false
	}
	return &cri.StopPodSandboxResponse{}, nil
}

// RemovePodSandbox forgets a pod and its containers; safe to repeat.
func (r *Runtime) RemovePodSandbox(
	ctx context.Context, request *cri.RemovePodSandboxRequest,
) (*cri.RemovePodSandboxResponse, error) {
	id := request.PodSandboxId
	if _, err := r.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return nil, err
	}
	for _, each := range r.containersOf(id) {
		if err := r.remove(each); err != nil {
			return nil, err
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.sandboxes, id)
	return &cri.RemovePodSandboxResponse{}, os.RemoveAll(r.directory(id))
}

// PodSandboxStatus says what a pod is and which address it has.
func (r *Runtime) PodSandboxStatus(
	_ context.Context, request *cri.PodSandboxStatusRequest,
) (*cri.PodSandboxStatusResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	pod := r.sandboxes[request.PodSandboxId]
	if pod == nil {
		return nil, missing("pod", request.PodSandboxId)
	}
	return &cri.PodSandboxStatusResponse{Status: &cri.PodSandboxStatus{
		Id:          pod.id,
		Metadata:    pod.config.Metadata,
		State:       pod.state(),
		CreatedAt:   pod.created,
		Network:     &cri.PodSandboxNetworkStatus{Ip: pod.address},
		Linux:       &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{Options: pod.namespaces()}},
		Labels:      pod.config.Labels,
		Annotations: pod.config.Annotations,
	}}, nil
}

func (s *sandbox) state() cri.PodSandboxState {
	if s.ready {
		return cri.PodSandboxState_SANDBOX_READY
	}
	return cri.PodSandboxState_SANDBOX_NOTREADY
}

// ListPodSandbox returns those that the filter lets through.
func (r *Runtime) ListPodSandbox(
	_ context.Context, request *cri.ListPodSandboxRequest,
) (*cri.ListPodSandboxResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	answer := &cri.ListPodSandboxResponse{}
	for _, pod := range r.sandboxes {
		if pod.passes(request.Filter) {
			answer.Items = append(answer.Items, &cri.PodSandbox{
				Id:          pod.id,
				Metadata:    pod.config.Metadata,
				State:       pod.state(),
				CreatedAt:   pod.created,
				Labels:      pod.config.Labels,
				Annotations: pod.config.Annotations,
			})
		}
	}
	return answer, nil
}

func (s *sandbox) passes(filter *cri.PodSandboxFilter) bool {
	if filter == nil {
		return true
	}
	return (filter.Id == "" || filter.Id == s.id) &&
		(filter.State == nil || filter.State.State == s.state()) &&
		labelled(s.config.Labels, filter.LabelSelector)
}

func labelled(labels, wanted map[string]string) bool {
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return true
}
