package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"
	nodes "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	pods "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// kwok is what its own main does (cmd/kwok/main.go of sigs.k8s.io/kwok), with the stages that kwokctl
// gives it: nodes are ready, pods run, those of a Job complete, deleted ones go.
func kwok() error {
	// Kubernetes' packages have a --version of their own for every command, in the way of kwok's.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	stages, err := os.CreateTemp("", "kwok-*.yaml")
	if err != nil {
		return err
	}
	text := []string{nodes.DefaultNodeInit, pods.DefaultPodReady, pods.DefaultPodComplete, pods.DefaultPodDelete}
	if _, err := stages.WriteString(strings.Join(text, "\n---\n")); err != nil {
		return err
	}
	os.Args = append(os.Args, "--config="+stages.Name())
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err = config.InitFlags(ctx, flags)
	os.Remove(stages.Name()) // they were read
	if err != nil {
		return err
	}
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	return command.ExecuteContext(ctx)
}
