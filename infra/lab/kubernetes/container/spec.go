// Package container runs a process of this machine as a container would: it is PID 1 of its own
// PID namespace, in a mount namespace whose root is this machine's file system with everything that
// is written kept apart, with its volumes where they are wanted. The network is this machine's, and
// nothing limits CPU, memory or system calls: a stand-in for a container runtime, not one.
package container

// Spec says all about one container; its first process gets it as JSON.
type Spec struct {
	Directory        string   // of its own, for what it writes outside of volumes
	Hidden           []string // directories whose mounts it must not see
	Hostname         string
	Arguments        []string
	Environment      []string // NAME=value
	WorkingDirectory string
	Mounts           []Mount
	Identity         Identity
	ReadOnlyRoot     bool
	Terminal         bool
}

// Mount is a file or directory of this machine, and where the container has it.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Identity is what a process runs as.
type Identity struct {
	User, Group     uint32
	Groups          []uint32
	NoNewPrivileges bool
}

// Namespaces are those that a container shares; 0 for its own.
type Namespaces struct {
	PID     int  // the process in whose PID namespace it runs
	HostPID bool // this machine's PID namespace
}

// Path is where a container looks for programs by default, as images have it.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
