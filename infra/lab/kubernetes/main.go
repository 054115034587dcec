// Command kubernetes-lab is a Kubernetes for tests on this machine alone, in one binary.
//
//	kubernetes-lab apiserver|controller-manager|scheduler|etcd|kwok|kubectl|kubelet|provisioner ARGUMENTS…
//
// All but two of them are what Kubernetes, etcd and kwok ship, from their Go modules. kubelet is the
// real kubelet too, but beneath it is our stand-in for a container runtime, whose containers are
// processes of this machine; see package kubelet for what that is not. provisioner gives claims of
// storage directories of this machine.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs name time zones

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"brownout/infra/lab/kubernetes/kubelet"
	"brownout/infra/lab/kubernetes/leash"
	"brownout/infra/lab/kubernetes/provisioner"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// commands run until they end; each finds its own arguments in os.Args[1:].
var commands = map[string]func(){
	"apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"controller-manager": func() { os.Exit(cli.Run(manager.NewControllerManagerCommand())) },
	"scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"etcd":               func() { etcdmain.Main(os.Args) },
	"kwok":               func() { end("kwok", kwok()) },
	"kubelet":            func() { end("kubelet", kubelet.Main(os.Args[1:])) },
	"provisioner":        func() { end("provisioner", provisioner.Main(os.Args[1:])) },
	"kubectl":            runKubectl,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		names := strings.Join(slices.Sorted(maps.Keys(commands)), "|")
		fmt.Fprintf(os.Stderr, "usage: kubernetes-lab %s ARGUMENTS…\n", names)
		os.Exit(2)
	}
	if err := leash.Hold(); err != nil {
		fmt.Fprintf(os.Stderr, "kubernetes-lab: %v\n", err)
		os.Exit(1)
	}
	run := commands[os.Args[1]]
	os.Args = slices.Delete(os.Args, 1, 2)
	run()
}

func end(name string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func runKubectl() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
