package provisioner

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func TestAVolumeIsADirectoryOfItsOwnUntilItIsDeleted(t *testing.T) {
	policy := core.PersistentVolumeReclaimDelete
	given := directories{t.TempDir()}
	volume, _, err := given.Provision(context.Background(), controller.ProvisionOptions{
		PVName:       "pvc-1",
		PVC:          &core.PersistentVolumeClaim{},
		StorageClass: &storage.StorageClass{ReclaimPolicy: &policy},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := volume.Spec.Local.Path
	if err := os.WriteFile(filepath.Join(path, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := given.Delete(context.Background(), volume); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}

func TestADirectoryOfSomebodyElseIsNotRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theirs")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	local := core.PersistentVolumeSource{Local: &core.LocalVolumeSource{Path: path}}
	volume := &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: "theirs"},
		Spec:       core.PersistentVolumeSpec{PersistentVolumeSource: local},
	}
	if err := (directories{t.TempDir()}).Delete(context.Background(), volume); err == nil {
		t.Error("it was deleted")
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
