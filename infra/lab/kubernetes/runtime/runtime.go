// Package runtime is a stand-in for a container runtime: it speaks the Container Runtime Interface
// (cri-api, api.proto) to a real kubelet, and what it runs are processes of this machine (package
// container). It pulls no images: a container has this machine's programs, whatever its image is
// called; where a manifest relies on what an image starts, Images says that.
package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
)

// Name is what a node says its runtime is.
const Name = "processes-of-this-machine-stand-in"

// Config says where and how.
type Config struct {
	Directory string           // for what containers write outside of volumes
	Hidden    []string         // directories whose mounts no container must see
	Plane     string           // sets its pods' addresses apart from another cluster's
	Images    map[string]Image // by name without tag; others have no command and no user
}

// Runtime is one node's.
type Runtime struct {
	cri.UnimplementedRuntimeServiceServer
	cri.UnimplementedImageServiceServer
	config    Config
	streams   streaming.Server
	mutex     sync.Mutex
	sandboxes map[string]*sandbox
	running   map[string]*running
	pulled    map[string]bool
}

// Serve starts a runtime that listens on a Unix socket, and on loopback for streams.
func Serve(config Config, socket string) error {
	runtime := &Runtime{
		config:    config,
		sandboxes: map[string]*sandbox{},
		running:   map[string]*running{},
		pulled:    map[string]bool{},
	}
	if err := runtime.serveStreams(); err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, runtime)
	cri.RegisterImageServiceServer(server, runtime)
	go func() { panic(server.Serve(listener)) }() // without it the node is useless
	return nil
}

func (r *Runtime) serveStreams() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	config := streaming.DefaultConfig
	config.Addr = listener.Addr().String()
	listener.Close()
	r.streams, err = streaming.NewServer(config, streamed{r})
	if err != nil {
		return err
	}
	go func() { panic(r.streams.Start(true)) }()
	return nil
}

// Version says that this is a stand-in.
func (r *Runtime) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{
		Version:           "0.1.0",
		RuntimeName:       Name,
		RuntimeVersion:    "1.0.0",
		RuntimeApiVersion: "v1",
	}, nil
}

// Status says that it can run pods.
func (r *Runtime) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	conditions := []*cri.RuntimeCondition{
		{Type: cri.RuntimeReady, Status: true},
		{Type: cri.NetworkReady, Status: true},
	}
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: conditions}}, nil
}

// RuntimeConfig names the kubelet's default way with cgroups, of which there are none here.
func (r *Runtime) RuntimeConfig(
	context.Context, *cri.RuntimeConfigRequest,
) (*cri.RuntimeConfigResponse, error) {
	linux := &cri.LinuxRuntimeConfiguration{CgroupDriver: cri.CgroupDriver_CGROUPFS}
	return &cri.RuntimeConfigResponse{Linux: linux}, nil
}

// UpdateRuntimeConfig is told the pods' network, which is this machine's.
func (r *Runtime) UpdateRuntimeConfig(
	context.Context, *cri.UpdateRuntimeConfigRequest,
) (*cri.UpdateRuntimeConfigResponse, error) {
	return &cri.UpdateRuntimeConfigResponse{}, nil
}

// UpdateContainerResources changes nothing: nothing is limited here.
func (r *Runtime) UpdateContainerResources(
	context.Context, *cri.UpdateContainerResourcesRequest,
) (*cri.UpdateContainerResourcesResponse, error) {
	return &cri.UpdateContainerResourcesResponse{}, nil
}

// ListContainerStats has none: nothing is measured here.
func (r *Runtime) ListContainerStats(
	context.Context, *cri.ListContainerStatsRequest,
) (*cri.ListContainerStatsResponse, error) {
	return &cri.ListContainerStatsResponse{}, nil
}

// ListPodSandboxStats has none: nothing is measured here.
func (r *Runtime) ListPodSandboxStats(
	context.Context, *cri.ListPodSandboxStatsRequest,
) (*cri.ListPodSandboxStatsResponse, error) {
	return &cri.ListPodSandboxStatsResponse{}, nil
}

func (r *Runtime) directory(id string) string {
	return filepath.Join(r.config.Directory, "containers", id)
}

func newID() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

func missing(what, id string) error {
	return status.Errorf(codes.NotFound, "there is no %s %s", what, id)
}
