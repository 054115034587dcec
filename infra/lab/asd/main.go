// Command asd-stand-in is one node of a stand-in for an Aerospike cluster: official clients connect
// to it unchanged, and it follows the documented behaviour as far as brownout's experiments need.
// It is no Aerospike product and says so in every answer about itself.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"brownout/infra/lab/asd/conf"
	"brownout/infra/lab/asd/node"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "asd-stand-in: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	file := flag.String("config-file", "", "the node's configuration, in the form of aerospike.conf")
	edition := flag.String("edition", "enterprise", "whose commands to have: enterprise or community")
	record := flag.Duration("migrate-record", 400*time.Microsecond, "how long a migration takes a record")
	partition := flag.Duration("migrate-partition", 2*time.Millisecond, "and a partition, even an empty one")
	told := flag.Bool("version", false, "say what this is, and end")
	flag.Parse()
	options := node.Options{
		Enterprise: *edition == "enterprise", Version: version,
		RecordPace: *record, PartitionPace: *partition,
	}
	if *told {
		fmt.Printf("%s, version %s: not Aerospike's product\n", node.Edition(options), version)
		return nil
	}
	if *edition != "enterprise" && *edition != "community" {
		return fmt.Errorf("-edition %q, wanted enterprise or community", *edition)
	}
	c, err := conf.Load(*file)
	if err != nil {
		return err
	}
	if c.Namespace.Rack != 0 && !options.Enterprise {
		return fmt.Errorf("%s: rack-id is enterprise-only", *file)
	}
	return serve(c, options)
}

// serve runs the node until it is told to end. One processor is enough for it: the nodes of a lab
// share a machine, and threads that wake each other would take a fifth of the node's time.
func serve(c conf.Config, options node.Options) error {
	runtime.GOMAXPROCS(1)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	n, err := node.Start(c, options)
	if err != nil {
		return err
	}
	<-told
	return n.Stop()
}
