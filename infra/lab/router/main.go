// Command router is a stand-in for a MongoDB router (mongos) in front of real
// replica sets, for labs and tests; see package standin for what it is not.
//
//	router --listen 127.0.0.1:27017 s1=rs1/127.0.0.1:27018 s2=rs2/127.0.0.1:27019,…
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"brownout/infra/lab/router/standin"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	flag.Parse()
	var shards []*standin.Shard
	for _, word := range flag.Args() {
		id, host, _ := strings.Cut(word, "=")
		shards = append(shards, standin.NewShard(id, host))
	}
	if len(shards) == 0 {
		fmt.Fprintln(os.Stderr, "router: wanted SHARD=SET/HOST:PORT,… at least once")
		os.Exit(2)
	}
	router, err := standin.Listen(*listen, shards...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "router:", err)
		os.Exit(1)
	}
	fmt.Printf("a stand-in for a router (no mongos) listens on %s\n", router.Address())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	router.Close()
}
