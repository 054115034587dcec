package main

import (
	"strings"
	"testing"

	aerospike "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/infra/lab/asd/wire"
)

func code(err aerospike.Error) types.ResultCode {
	if err == nil {
		return types.OK
	}
	var found types.ResultCode
	for c := types.ResultCode(-30); c < 100; c++ {
		if err.Matches(c) {
			found = c
		}
	}
	return found
}

func wants(t *testing.T, what string, err aerospike.Error, want types.ResultCode) {
	t.Helper()
	if code(err) != want {
		t.Errorf("%s: %v, wanted %v", what, err, want)
	}
}

func TestTheOfficialClientFindsARealDatabase(t *testing.T) {
	l := newLab(t, 3)
	client := l.client()
	for name, test := range map[string]func(*testing.T, *aerospike.Client){
		"single": singleRecords, "operate": operations, "batch": batches,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
	t.Run("proxy", func(t *testing.T) { goesThroughTheWrongNode(t, l) })
	t.Run("info", func(t *testing.T) { answersItsCommands(t, l) })
	t.Run("truncate", func(t *testing.T) { truncates(t, l, client) })
}

func singleRecords(t *testing.T, client *aerospike.Client) {
	k := key(t, "single")
	wants(t, "a put", client.Put(nil, k, aerospike.BinMap{"n": 1, "s": "x", "f": 1.5, "b": []byte{7}, "t": true}), types.OK)
	record, err := client.Get(nil, k)
	if err != nil || record.Generation != 1 || record.Bins["n"] != 1 || record.Bins["s"] != "x" ||
		record.Bins["f"] != 1.5 || record.Bins["t"] != true {
		t.Fatalf("%v, %v", record, err)
	}
	create := aerospike.NewWritePolicy(0, 0)
	create.RecordExistsAction = aerospike.CREATE_ONLY
	wants(t, "creating it again", client.Put(create, k, aerospike.BinMap{"n": 2}), types.KEY_EXISTS_ERROR)
	expect := aerospike.NewWritePolicy(7, 0)
	expect.GenerationPolicy = aerospike.EXPECT_GEN_EQUAL
	wants(t, "a wrong generation", client.Put(expect, k, aerospike.BinMap{"n": 2}), types.GENERATION_ERROR)
	expect.Generation = 1
	wants(t, "the right generation", client.Put(expect, k, aerospike.BinMap{"n": 2}), types.OK)
	wants(t, "an unknown namespace", client.Put(nil, elsewhere(t), aerospike.BinMap{"n": 2}), types.INVALID_NAMESPACE)
	if there, err := client.Delete(nil, k); !there || err != nil {
		t.Errorf("deleting: %v, %v", there, err)
	}
	_, err = client.Get(nil, k)
	wants(t, "reading what was deleted", err, types.KEY_NOT_FOUND_ERROR)
}

func elsewhere(t *testing.T) *aerospike.Key {
	t.Helper()
	k, err := aerospike.NewKey("nowhere", "s", 1)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func operations(t *testing.T, client *aerospike.Client) {
	k := key(t, "operate")
	record, err := client.Operate(nil, k,
		aerospike.AddOp(aerospike.NewBin("n", 5)), aerospike.PutOp(aerospike.NewBin("s", "a")),
		aerospike.AppendOp(aerospike.NewBin("s", "b")), aerospike.GetOp())
	if err != nil || record.Bins["n"] != 5 || record.Bins["s"] != "ab" {
		t.Fatalf("%v, %v", record, err)
	}
	for range 10 {
		if err := client.Add(nil, k, aerospike.BinMap{"n": 1}); err != nil {
			t.Fatal(err)
		}
	}
	if record, err := client.Get(nil, k, "n"); err != nil || record.Bins["n"] != 15 || record.Generation != 11 {
		t.Errorf("%v, %v", record, err)
	}
	_, err = client.Operate(nil, k, aerospike.ListAppendOp("l", 1))
	wants(t, "a list", err, types.UNSUPPORTED_FEATURE)
}

func batches(t *testing.T, client *aerospike.Client) {
	var keys []*aerospike.Key
	for i := range 50 {
		keys = append(keys, key(t, i))
		if i%5 == 0 {
			continue
		}
		if err := client.Put(nil, keys[i], aerospike.BinMap{"i": i}); err != nil {
			t.Fatal(err)
		}
	}
	records, err := client.BatchGet(nil, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if (r == nil) != (i%5 == 0) || (r != nil && r.Bins["i"] != i) {
			t.Errorf("record %d: %v", i, r)
		}
	}
	write := aerospike.NewBatchWrite(nil, keys[0], aerospike.PutOp(aerospike.NewBin("i", 100)))
	if err := client.BatchOperate(nil, []aerospike.BatchRecordIfc{write}); err != nil || write.BatchRec().ResultCode != types.OK {
		t.Errorf("a batch that writes: %v", err)
	}
}

// goesThroughTheWrongNode asks each node in turn, as a client with an old map does.
func goesThroughTheWrongNode(t *testing.T, l *lab) {
	digest := key(t, "proxy").Digest()
	number := wire.Op{Kind: wire.OpWrite, Type: wire.TypeInteger, Bin: "n", Value: make([]byte, 8)}
	write := &wire.Request{Info2: wire.Info2Write, Namespace: "test", Set: "s", Digest: digest, Ops: []wire.Op{number}}
	read := &wire.Request{Info1: wire.Info1Read | wire.Info1AllBins, Namespace: "test", Digest: digest}
	proxied := 0
	for i, n := range l.nodes {
		if answer := n.send(t, write); answer.Code != wire.OK || answer.Generation != uint32(i+1) {
			t.Errorf("%s: a write: %+v", n.id, answer)
		}
		if answer := n.send(t, read); answer.Code != wire.OK || len(answer.Ops) != 1 {
			t.Errorf("%s: a read: %+v", n.id, answer)
		}
		proxied += atoi(n.number("namespace/test", "client_proxy_complete"))
	}
	if proxied != 3 { // two writes, and the read on the node that has no copy
		t.Errorf("%d requests were handed on, wanted 3", proxied)
	}
}

func answersItsCommands(t *testing.T, l *lab) {
	n := l.nodes[0]
	for command, want := range map[string]string{
		"node": "A1", "status": "ok", "namespaces": "test", "partitions": "4096", "compatibility-id": "15",
		"cluster-name":                           "lab",
		"nosuch":                                 "ERROR:4:unrecognized command",
		"nosuch:":                                "ERROR:4:unrecognized command",
		"namespace/nope":                         "type=unknown",
		"get-config:context=nope":                "ERROR:4:invalid context",
		"cluster-stable:size=4":                  "ERROR:7:cluster not specified size",
		"cluster-stable:size=x":                  "ERROR:4:bad size",
		"cluster-stable:ignore-migrations=maybe": "ERROR:4:bad ignore migrations",
		"cluster-stable:namespace=nope":          "ERROR:20:namespace not found on node",
		"recluster:":                             "ignored-by-non-principal",
		"roster:":                                "ERROR:25:enterprise only",
		"racks:":                                 "ns=test:rack_0=A3,A2,A1",
		"set-config:context=service;stay-quiesced=1":                  "ERROR:4:invalid set-config parameter",
		"set-config:context=namespace;namespace=test;migrate-sleep=2": "ok",
		"latencies:hist={test}-udf":                                   "{test}-udf:",
		"peers-clear-alt":                                             "1,3000,[]",
	} {
		if got := n.info(command); got != want {
			t.Errorf("%s: %q, wanted %q", command, got, want)
		}
	}
	stable := n.info("cluster-stable:")
	for _, command := range []string{
		"cluster-stable:size=3", "cluster-stable:size=3;ignore-migrations=true;namespace=test",
		"cluster-stable:ignore_migrations=nonsense", // what it does not know is ignored
	} {
		if got := n.info(command); got != stable || strings.HasPrefix(got, "ERROR") || strings.HasPrefix(got, "0") {
			t.Errorf("%s: %q, wanted %q", command, got, stable)
		}
	}
	for _, command := range []string{"edition", "build", "version", "release"} {
		if got := n.info(command); !strings.Contains(strings.ReplaceAll(got, "-", " "), "brownout stand in") || strings.Contains(got, "Aerospike") {
			t.Errorf("%s: %q does not say what it is", command, got)
		}
	}
	if got := n.info("peers-clear-std"); strings.Count(got, "[[127.0.0.1:")+strings.Count(got, ",,[127.0.0.1:") != 2 {
		t.Errorf("peers-clear-std: %s", got)
	}
}

func truncates(t *testing.T, l *lab, client *aerospike.Client) {
	if err := client.Truncate(nil, "test", "s", nil); err != nil {
		t.Fatal(err)
	}
	l.await("an empty set", func() bool {
		for _, n := range l.nodes {
			if n.number("namespace/test", "objects") != "0" {
				return false
			}
		}
		return true
	})
}
