// Package kubelet makes this machine a node of Kubernetes: a real kubelet (cmd/kubelet/app), and
// beneath it our stand-in for a container runtime (package runtime), whose containers are processes
// of this machine. Pods, volumes, probes, restarts, statuses, exec and logs are therefore the
// kubelet's own; images, cgroups, seccomp, networks of pods, cluster DNS and Services are not there.
package kubelet

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"brownout/infra/lab/kubernetes/runtime"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kubelet/app"
)

// Options are the command line of a node.
type Options struct {
	Name        string
	Directory   string
	Kubeconfig  string
	Authority   string
	Certificate string
	Plane       string
	Port        int
	Images      string
}

const about = `A stand-in for a container runtime beneath a real kubelet: the containers of this node are processes
of this machine, each with its own mount and PID namespace. For tests alone; it needs root.

usage: kubernetes-lab kubelet --name NAME --directory DIRECTORY --kubeconfig FILE --authority FILE \
    --certificate FILE --port PORT [--plane NAME] [--images FILE]
`

// Main runs a node until it is killed. Its containers end with it.
func Main(arguments []string) error {
	options, err := parse(arguments)
	if err != nil {
		return err
	}
	if err := isolate(options.Directory); err != nil {
		return err
	}
	images, err := readImages(options.Images)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "node %s is a stand-in: a real kubelet, whose containers are processes "+
		"of this machine\n", options.Name)
	config := runtime.Config{Directory: home, Hidden: []string{private, state}, Plane: options.Plane, Images: images}
	if err := runtime.Serve(config, socket); err != nil {
		return err
	}
	if err := register(context.Background(), options); err != nil {
		return err
	}
	return run(options)
}

func parse(arguments []string) (Options, error) {
	var options Options
	flags := flag.NewFlagSet("kubernetes-lab kubelet", flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), about)
		flags.PrintDefaults()
	}
	flags.StringVar(&options.Name, "name", "", "the node's `NAME`")
	flags.StringVar(&options.Directory, "directory", "", "where it keeps all that it has")
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "an administrator's")
	flags.StringVar(&options.Authority, "authority", "", "who signs certificates of clients, in PEM")
	flags.StringVar(&options.Certificate, "certificate", "", "its own for 127.0.0.1, with key, in PEM")
	flags.StringVar(&options.Plane, "plane", "", "sets addresses of pods apart from other clusters'")
	flags.IntVar(&options.Port, "port", 0, "where it listens on 127.0.0.1 for the API server")
	flags.StringVar(&options.Images, "images", "",
		`JSON: {"NAME": {"Command": ["/program"], "User": 1000}} for manifests that rely on an image`)
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	if options.Name == "" || options.Directory == "" || options.Kubeconfig == "" || options.Port == 0 {
		return options, fmt.Errorf("a node needs --name, --directory, --kubeconfig and --port; see --help")
	}
	return options, nil
}

func readImages(file string) (map[string]runtime.Image, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var images map[string]runtime.Image
	if err := json.Unmarshal(text, &images); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return images, nil
}

// run becomes the kubelet.
func run(options Options) error {
	file := filepath.Join(home, "kubelet.json")
	text, err := json.Marshal(configuration(options))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	command := app.NewKubeletCommand(context.Background())
	command.SetArgs([]string{
		"--config=" + file,
		"--kubeconfig=" + options.Kubeconfig,
		"--hostname-override=" + options.Name,
		"--root-dir=" + home,
		"--cert-dir=" + filepath.Join(home, "pki"),
		"--cloud-provider=external", // the addresses that it was registered with stay
	})
	os.Exit(cli.Run(command))
	return nil
}
