package node

import (
	"sync"
	"time"

	"brownout/infra/lab/asd/wire"
)

// atOnce is how many parts of a batch are worked on at the same time.
const atOnce = 16

// batch answers every part of a batch: one message each, in one frame, an empty one last.
func (n *Node) batch(r *wire.Request) wire.Frame {
	n.counts.Add("batch_index_initiate")
	started := time.Now()
	parts, err := wire.ParseBatch(r)
	if err != nil {
		n.counts.Add("batch_index_error")
		return wire.Answer{Code: wire.BadParameter, Last: true}.Frame()
	}
	answers := n.allParts(parts)
	var body []byte
	for _, a := range answers {
		body = a.Append(body)
	}
	n.counts.Add("batch_index_complete")
	n.batches.Record(time.Since(started))
	return wire.Frame{Kind: wire.FrameMessage, Body: wire.Answer{Last: true}.Append(body)}
}

func (n *Node) allParts(parts []wire.Part) []wire.Answer {
	answers := make([]wire.Answer, len(parts))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, part := range parts {
		slots <- struct{}{}
		all.Go(func() {
			answers[i] = n.answer(part.Request, fromBatch)
			answers[i].Index = part.Index
			<-slots
		})
	}
	all.Wait()
	return answers
}
