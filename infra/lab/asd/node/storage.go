package node

import (
	"context"
	"time"

	"brownout/infra/lab/asd/balance"
	"brownout/infra/lab/asd/device"
	"brownout/infra/lab/asd/meter"
	"brownout/infra/lab/asd/record"
)

// openDevice opens the storage file and takes all that is in it.
func (n *Node) openDevice() error {
	ns := n.conf.Namespace
	d, fresh, err := device.Open(ns.File, ns.FileSize, record.Partitions)
	if err != nil {
		return err
	}
	n.device, n.fresh = d, fresh
	stored := 0
	for i := range n.partitions {
		n.partitions[i] = newPartition(i)
		n.partitions[i].version = balance.Unpack(d.Partition(i)).Restarted()
		if n.partitions[i].version.HasData() {
			stored++
		}
	}
	if fresh {
		n.log.Info("drv_ssd", "{%s} found all 1 devices fresh, initializing to random %d", ns.Name, d.Epoch())
	}
	loaded, err := d.Load(n.load)
	if err != nil {
		return err
	}
	n.log.Info("drv_ssd", "{%s} loaded: objects %d device-pcts (100)", ns.Name, loaded)
	n.log.Info("partition", "{%s} %d partitions: found %d absent, %d stored", ns.Name,
		record.Partitions, record.Partitions-stored, stored)
	return nil
}

// load takes a record from the device, unless it is left over from a partition that was given away.
func (n *Node) load(r *record.Record) {
	p := n.partitions[r.Digest.Partition()]
	if p.version.HasData() {
		p.records[r.Digest] = r
	} else {
		n.device.Remove(r.Digest)
	}
}

// upkeep flushes the device and turns the histograms.
func (n *Node) upkeep(ctx context.Context) {
	flush := time.NewTicker(n.conf.Namespace.FlushMax)
	defer flush.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-flush.C:
			if err := n.device.Flush(); err != nil {
				n.log.Warn("drv_ssd", "{%s} %s: %v", n.conf.Namespace.Name, n.conf.Namespace.File, err)
			}
			for _, l := range []*meter.Latency{n.reads, n.writes, n.batches} {
				l.Turn(now)
			}
		}
	}
}
