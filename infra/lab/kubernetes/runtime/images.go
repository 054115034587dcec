package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Image is what a manifest may rely on in an image.
type Image struct {
	Command []string // what runs where a container names no command
	User    int64    // whom it runs as where a container names no user
}

// image returns what is known of an image, by its name without registry's port, tag or digest.
func (r *Runtime) image(name string) Image {
	name, _, _ = strings.Cut(name, "@")
	if slash, colon := strings.LastIndex(name, "/"), strings.LastIndex(name, ":"); colon > slash {
		name = name[:colon]
	}
	return r.config.Images[name]
}

func (r *Runtime) described(name string) *cri.Image {
	about := r.image(name)
	return &cri.Image{
		Id:       "stand-in:" + name,
		RepoTags: []string{name},
		Size:     1,
		Uid:      &cri.Int64Value{Value: about.User},
	}
}

// PullImage remembers the name.
func (r *Runtime) PullImage(
	_ context.Context, request *cri.PullImageRequest,
) (*cri.PullImageResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	name := request.Image.Image
	r.pulled[name] = true
	return &cri.PullImageResponse{ImageRef: r.described(name).Id}, nil
}

// ImageStatus knows an image once it was pulled, or by the identifier that it was given then.
func (r *Runtime) ImageStatus(
	_ context.Context, request *cri.ImageStatusRequest,
) (*cri.ImageStatusResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	name := strings.TrimPrefix(request.Image.Image, "stand-in:")
	if !r.pulled[name] {
		return &cri.ImageStatusResponse{}, nil
	}
	return &cri.ImageStatusResponse{Image: r.described(name)}, nil
}

// ListImages has those that were pulled.
func (r *Runtime) ListImages(
	context.Context, *cri.ListImagesRequest,
) (*cri.ListImagesResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	answer := &cri.ListImagesResponse{}
	for name := range r.pulled {
		answer.Images = append(answer.Images, r.described(name))
	}
	slices.SortFunc(answer.Images, func(a, b *cri.Image) int { return strings.Compare(a.Id, b.Id) })
	return answer, nil
}

// RemoveImage forgets the name.
func (r *Runtime) RemoveImage(
	_ context.Context, request *cri.RemoveImageRequest,
) (*cri.RemoveImageResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.pulled, strings.TrimPrefix(request.Image.Image, "stand-in:"))
	return &cri.RemoveImageResponse{}, nil
}

// ImageFsInfo names the file system of the node's directory; images take nothing of it.
func (r *Runtime) ImageFsInfo(
	context.Context, *cri.ImageFsInfoRequest,
) (*cri.ImageFsInfoResponse, error) {
	var about syscall.Statfs_t
	if err := syscall.Statfs(r.config.Directory, &about); err != nil {
		return nil, fmt.Errorf("%s: %w", r.config.Directory, err)
	}
	usage := []*cri.FilesystemUsage{{
		Timestamp:  time.Now().UnixNano(),
		FsId:       &cri.FilesystemIdentifier{Mountpoint: r.config.Directory},
		UsedBytes:  &cri.UInt64Value{},
		InodesUsed: &cri.UInt64Value{},
	}}
	return &cri.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}
