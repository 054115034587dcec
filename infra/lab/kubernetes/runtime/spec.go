package runtime

import (
	"fmt"
	"os/user"
	"slices"
	"strconv"

	"brownout/infra/lab/kubernetes/container"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// spec makes of the kubelet's wishes what container runs.
func (r *Runtime) spec(each *running) (container.Spec, error) {
	config := each.config
	image := r.image(config.GetImage().GetUserSpecifiedImage())
	command := config.Command
	if len(command) == 0 {
		command = image.Command
	}
	if len(command) == 0 {
		return container.Spec{}, fmt.Errorf(
			"container %s names no command, and this stand-in for a runtime has no images: "+
				"say what %s starts", config.Metadata.Name, config.GetImage().GetUserSpecifiedImage())
	}
	security := config.GetLinux().GetSecurityContext()
	identity, home, err := identity(security, image.User)
	if err != nil {
		return container.Spec{}, err
	}
	return container.Spec{
		Directory:        r.directory(each.id),
		Hidden:           r.config.Hidden,
		Hostname:         each.pod.config.Hostname,
		Arguments:        slices.Concat(command, config.Args),
		Environment:      environment(config.Envs, home),
		WorkingDirectory: config.WorkingDir,
		Mounts:           mounts(config.Mounts),
		Identity:         identity,
		ReadOnlyRoot:     security.GetReadonlyRootfs(),
		Terminal:         config.Tty,
	}, nil
}

// environment is what a runtime sets, and then what the kubelet wants.
func environment(wanted []*cri.KeyValue, home string) []string {
	all := []string{
		"PATH=" + container.Path,
		"HOME=" + home,
	}
	for _, each := range wanted {
		all = slices.DeleteFunc(all, func(old string) bool {
			return len(old) > len(each.Key) && old[:len(each.Key)+1] == each.Key+"="
		})
		all = append(all, each.Key+"="+string(each.Value))
	}
	return all
}

func mounts(wanted []*cri.Mount) []container.Mount {
	var all []container.Mount
	for _, each := range wanted {
		all = append(all, container.Mount{
			Source: each.HostPath, Target: each.ContainerPath, ReadOnly: each.Readonly,
		})
	}
	return all
}

// identity says whom a container runs as, and where their home is; `otherwise` is the image's user.
func identity(
	security *cri.LinuxContainerSecurityContext, otherwise int64,
) (container.Identity, string, error) {
	id := otherwise
	if wanted := security.GetRunAsUser(); wanted != nil {
		id = wanted.Value
	} else if name := security.GetRunAsUsername(); name != "" {
		known, err := user.Lookup(name)
		if err != nil {
			return container.Identity{}, "", err
		}
		if id, err = strconv.ParseInt(known.Uid, 10, 64); err != nil {
			return container.Identity{}, "", err
		}
	}
	group, home := int64(0), "/"
	if known, err := user.LookupId(strconv.FormatInt(id, 10)); err == nil {
		home = known.HomeDir
		group, _ = strconv.ParseInt(known.Gid, 10, 64) // Linux has them as numbers
	}
	if wanted := security.GetRunAsGroup(); wanted != nil {
		group = wanted.Value
	}
	found := container.Identity{
		User: uint32(id), Group: uint32(group), NoNewPrivileges: security.GetNoNewPrivs(),
	}
	for _, each := range security.GetSupplementalGroups() {
		found.Groups = append(found.Groups, uint32(each))
	}
	return found, home, nil
}
