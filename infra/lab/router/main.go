// Command router is a stand-in for a MongoDB router (mongos) in front of real
// replica sets, for labs and tests; see package standin for what it is not.
//
//	router --config FILE
//	{"listen": "127.0.0.1:27017", "shards": {"s1": "rs1/127.0.0.1:27018,…", "s2": …}}
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"brownout/infra/lab/router/standin"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("router: ")
	file := flag.String("config", "", "its configuration, in JSON")
	flag.Parse()
	config, err := read(*file)
	if err != nil {
		log.Fatal(err)
	}
	var shards []*standin.Shard
	for _, id := range slices.Sorted(maps.Keys(config.Shards)) {
		shards = append(shards, standin.NewShard(id, config.Shards[id]))
	}
	router, err := standin.Listen(config.Listen, shards...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a stand-in for a router (no mongos) listens on %s\n", router.Address())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	router.Close()
}

type config struct {
	Listen string            `json:"listen"`
	Shards map[string]string `json:"shards"`
}

func read(file string) (config, error) {
	var found config
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err == nil && len(found.Shards) == 0 {
		err = fmt.Errorf("%s names no shards", file)
	}
	return found, err
}
