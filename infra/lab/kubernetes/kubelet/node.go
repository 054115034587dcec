package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// label and kind choose this node among others of a lab.
const (
	label = "brownout.lab/node"
	kind  = "process"
	says  = "brownout.lab/stand-in"
)

// register makes the node before the kubelet does: it refuses an address on loopback, but leaves
// alone what a node has already where a cloud's controller is in charge of addresses
// (nodestatus.NodeAddress in pkg/kubelet/nodestatus/setters.go).
func register(ctx context.Context, options Options) error {
	config, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	nodes := client.CoreV1().Nodes()
	_, err = nodes.Create(ctx, described(options.Name), meta.CreateOptions{})
	if err != nil && !errors.IsAlreadyExists(err) {
		return fmt.Errorf("register node %s: %w", options.Name, err)
	}
	addresses := []core.NodeAddress{
		{Type: core.NodeInternalIP, Address: "127.0.0.1"},
		{Type: core.NodeHostName, Address: options.Name},
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"addresses": addresses}})
	if err != nil {
		return err
	}
	if _, err = nodes.PatchStatus(ctx, options.Name, patch); err != nil {
		return fmt.Errorf("address of node %s: %w", options.Name, err)
	}
	return nil
}

func described(name string) *core.Node {
	return &core.Node{ObjectMeta: meta.ObjectMeta{
		Name: name,
		Labels: map[string]string{
			label:                kind,
			core.LabelHostname:   name,
			core.LabelOSStable:   runtime.GOOS,
			core.LabelArchStable: runtime.GOARCH,
		},
		Annotations: map[string]string{
			says: "a real kubelet whose containers are processes of one machine",
		},
	}}
}
