package scriptserver

import (
	"time"

	"brownout/loadgen/scriptserver/wire"
)

// job is an operation that waits to be done.
type job struct {
	due      time.Duration // on the server's clock
	received time.Duration // on the script's
	order    uint64
	request  wire.Request
	plan     plan
	link     *link
}

// queue is a heap of jobs by when they are due, then by when they came.
type queue []*job

func (q queue) Len() int { return len(q) }

func (q queue) Less(a, b int) bool {
	if q[a].due != q[b].due {
		return q[a].due < q[b].due
	}
	return q[a].order < q[b].order
}

func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push is for package heap.
func (q *queue) Push(x any) { *q = append(*q, x.(*job)) }

// Pop is for package heap.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
