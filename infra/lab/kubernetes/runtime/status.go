package runtime

import (
	"context"
	"path/filepath"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ListContainers returns those that the filter lets through.
func (r *Runtime) ListContainers(
	_ context.Context, request *cri.ListContainersRequest,
) (*cri.ListContainersResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	answer := &cri.ListContainersResponse{}
	for _, each := range r.running {
		if each.passes(request.Filter) {
			answer.Containers = append(answer.Containers, each.listed())
		}
	}
	return answer, nil
}

func (c *running) passes(filter *cri.ContainerFilter) bool {
	if filter == nil {
		return true
	}
	return (filter.Id == "" || filter.Id == c.id) &&
		(filter.PodSandboxId == "" || filter.PodSandboxId == c.pod.id) &&
		(filter.State == nil || filter.State.State == c.state()) &&
		labelled(c.config.Labels, filter.LabelSelector)
}

func (c *running) listed() *cri.Container {
	return &cri.Container{
		Id:           c.id,
		PodSandboxId: c.pod.id,
		Metadata:     c.config.Metadata,
		Image:        c.config.Image,
		ImageRef:     c.config.Image.GetImage(),
		ImageId:      c.config.Image.GetImage(),
		State:        c.state(),
		CreatedAt:    c.created,
		Labels:       c.config.Labels,
		Annotations:  c.config.Annotations,
	}
}

func (c *running) state() cri.ContainerState {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.ended != 0:
		return cri.ContainerState_CONTAINER_EXITED
	case c.process != nil:
		return cri.ContainerState_CONTAINER_RUNNING
	}
	return cri.ContainerState_CONTAINER_CREATED
}

// ContainerStatus says how a container is, or how it ended.
func (r *Runtime) ContainerStatus(
	_ context.Context, request *cri.ContainerStatusRequest,
) (*cri.ContainerStatusResponse, error) {
	each, err := r.find(request.ContainerId)
	if err != nil {
		return nil, err
	}
	return &cri.ContainerStatusResponse{Status: each.status()}, nil
}

func (c *running) status() *cri.ContainerStatus {
	state := c.state()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return &cri.ContainerStatus{
		Id:          c.id,
		Metadata:    c.config.Metadata,
		State:       state,
		CreatedAt:   c.created,
		StartedAt:   c.started,
		FinishedAt:  c.ended,
		ExitCode:    int32(c.code),
		Image:       &cri.ImageSpec{Image: c.config.Image.GetUserSpecifiedImage()},
		ImageRef:    c.config.Image.GetImage(),
		ImageId:     c.config.Image.GetImage(),
		Reason:      c.reason,
		Message:     c.message,
		Labels:      c.config.Labels,
		Annotations: c.config.Annotations,
		Mounts:      c.config.Mounts,
		LogPath:     filepath.Join(c.pod.config.LogDirectory, c.config.LogPath),
		User: &cri.ContainerUser{Linux: &cri.LinuxContainerUser{
			Uid: int64(c.spec.Identity.User), Gid: int64(c.spec.Identity.Group),
		}},
	}
}
