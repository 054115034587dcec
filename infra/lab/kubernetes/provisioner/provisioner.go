// Package provisioner gives each claim of storage a directory of this machine, and removes it with
// the claim where the volume's reclaim policy says so. The volumes are of the kind `local`, which
// the kubelet gives to the group that a pod wants (fsGroup), as it does on a cloud's disks.
package provisioner

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

const (
	// Name is what a StorageClass calls it.
	Name = "brownout.lab/local-directory"
	// label is on every node of the lab; a local volume must say where it can be reached.
	label = "brownout.lab/node"
)

// Main serves claims until it is killed.
func Main(arguments []string) error {
	flags := flag.NewFlagSet("kubernetes-lab provisioner", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "an administrator's")
	folder := flags.String("directory", "", "where the directories are made")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := klog.NewContext(context.Background(), klog.Background())
	controller.NewProvisionController(ctx, client, Name, directories{*folder},
		controller.LeaderElection(false)).Run(ctx)
	return nil
}

// directories are all below one folder.
type directories struct{ folder string }

// Provision makes a directory and describes it as a volume.
func (d directories) Provision(
	_ context.Context, wanted controller.ProvisionOptions,
) (*core.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(d.folder, wanted.PVName)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("claim %s: %w", wanted.PVC.Name, err)
	}
	return describe(path, wanted), controller.ProvisioningFinished, nil
}

func describe(path string, wanted controller.ProvisionOptions) *core.PersistentVolume {
	size := wanted.PVC.Spec.Resources.Requests[core.ResourceStorage]
	here := core.NodeSelectorRequirement{Key: label, Operator: core.NodeSelectorOpExists}
	terms := []core.NodeSelectorTerm{{MatchExpressions: []core.NodeSelectorRequirement{here}}}
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: wanted.PVName},
		Spec: core.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *wanted.StorageClass.ReclaimPolicy,
			AccessModes:                   wanted.PVC.Spec.AccessModes,
			Capacity:                      core.ResourceList{core.ResourceStorage: size},
			NodeAffinity: &core.VolumeNodeAffinity{
				Required: &core.NodeSelector{NodeSelectorTerms: terms},
			},
			PersistentVolumeSource: core.PersistentVolumeSource{
				Local: &core.LocalVolumeSource{Path: path},
			},
		},
	}
}

// Delete removes a volume's directory.
func (d directories) Delete(_ context.Context, volume *core.PersistentVolume) error {
	if volume.Spec.Local == nil || filepath.Dir(volume.Spec.Local.Path) != filepath.Clean(d.folder) {
		return fmt.Errorf("volume %s is not one of ours in %s", volume.Name, d.folder)
	}
	return os.RemoveAll(volume.Spec.Local.Path)
}
