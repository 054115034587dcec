package fabric

import (
	"bytes"
	"context"
	"errors"
	"net"
	"reflect"
	"testing"
	"time"

	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

const patience = 10 * time.Second

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// pair returns two nodes that see each other; the second answers every question with its body.
func pair(t *testing.T) (asks, answers *Mesh) {
	t.Helper()
	first, second := listen(t), listen(t)
	asks = NewMesh(1, func(Message) {})
	answers = NewMesh(2, func(m Message) {
		if m.Kind != Carry {
			_ = answers.Send(m.From, Quick, m.Reply(9, m.Body))
		}
	})
	go asks.Serve(first)
	go answers.Serve(second)
	asks.Arrive(2, second.Addr().String())
	answers.Arrive(1, first.Addr().String())
	t.Cleanup(func() { asks.Depart(2); answers.Depart(1) })
	return asks, answers
}

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	want := Message{
		Kind: Carry, Code: 3, Partition: 4095, ID: 7, Key: 1 << 47, Node: 0xA1,
		Digest: record.Digest{1, 2}, Body: []byte("record"),
	}
	var buffer bytes.Buffer
	if err := want.write(&buffer); err != nil {
		t.Fatal(err)
	}
	whole := buffer.Bytes()
	if got, err := readMessage(bytes.NewReader(whole)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range whole {
		if _, err := readMessage(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d of %d bytes were taken for a message", n, len(whole))
		}
	}
}

func TestAQuestionGetsItsOwnAnswer(t *testing.T) {
	asks, _ := pair(t)
	for _, text := range []string{"one", "two", "three"} {
		answer, err := asks.Ask(2, Quick, Message{Kind: Ask, Body: []byte(text)}, patience)
		if err != nil || string(answer.Body) != text || answer.From != 2 || answer.Code != 9 {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
}

func TestAQuestionWithoutAnAnswerTimesOut(t *testing.T) {
	asks, _ := pair(t)
	if _, err := asks.Ask(2, Bulk, Message{Kind: Carry}, 50*time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Errorf("%v", err)
	}
}

func TestNothingCanBeSentToANodeThatIsNotSeen(t *testing.T) {
	asks, _ := pair(t)
	asks.Depart(2)
	if err := asks.Send(2, Quick, Message{}); !errors.Is(err, ErrNoNode) {
		t.Errorf("%v", err)
	}
	if _, err := asks.Ask(3, Quick, Message{}, patience); !errors.Is(err, ErrNoNode) {
		t.Errorf("%v", err)
	}
}

func TestAQuestionEndsWhenThePeerIsNotSeenAnyMore(t *testing.T) {
	asks, _ := pair(t)
	ended := make(chan error)
	go func() {
		_, err := asks.Ask(2, Bulk, Message{Kind: Carry}, time.Hour)
		ended <- err
	}()
	for asked := 0; asked == 0; time.Sleep(time.Millisecond) {
		asks.mu.Lock()
		asked = len(asks.asked)
		asks.mu.Unlock()
	}
	asks.Depart(2)
	if err := <-ended; !errors.Is(err, ErrNoNode) {
		t.Errorf("%v", err)
	}
}

func TestALinkOutlivesItsConnection(t *testing.T) {
	asks, _ := pair(t)
	if _, err := asks.Ask(2, Quick, Message{Kind: Ask}, patience); err != nil {
		t.Fatal(err)
	}
	l := asks.link(2, Quick)
	l.mu.Lock()
	l.conn.Close()
	l.mu.Unlock()
	for deadline := time.Now().Add(patience); ; {
		if _, err := asks.Ask(2, Quick, Message{Kind: Ask}, 100*time.Millisecond); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it never came back")
		}
	}
}

func TestAPeerThatDoesNotReadFillsItsQueueAndNobodyWaits(t *testing.T) {
	silent := listen(t)
	m := NewMesh(1, func(Message) {})
	m.Arrive(2, silent.Addr().String())
	defer m.Depart(2)
	body := make([]byte, 1<<16)
	for range 4 * queueLength {
		if errors.Is(m.Send(2, Quick, Message{Body: body}), ErrNoNode) {
			return
		}
	}
	t.Error("the queue took everything")
}

func TestHeartbeatsAreHeardUntilTheyEnd(t *testing.T) {
	l, heard := listen(t), make(chan Pulse, 100)
	go Listen(l, func(p Pulse) { heard <- p })
	ctx, cancel := context.WithCancel(t.Context())
	want := Pulse{From: 0xA1, Key: 5, Sees: []nodeid.ID{0xA2}, Fabric: "f", Service: "s", Cluster: "c"}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Beat(ctx, l.Addr().String(), 10*time.Millisecond, func() Pulse { return want })
	}()
	for range 3 {
		if got := <-heard; !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v", got)
		}
	}
	cancel()
	<-ended
}
