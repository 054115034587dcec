package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// Copies returns every master and every replica that the cluster knows of and does not see as failed.
func (d *Driver) Copies(ctx context.Context) (copies []driver.Copy, err error) {
	err = d.controlled(func(c *control) error {
		servers, err := c.servers(ctx)
		if err != nil {
			return err
		}
		for _, each := range servers {
			one, err := d.copyOf(each)
			if err != nil {
				return fmt.Errorf("%s: %w", each.address, err)
			}
			copies = append(copies, one)
		}
		return nil
	})
	return copies, err
}

// holder is a server with the slots of which it has copies.
type holder struct {
	address string
	has     *[slots]bool // a replica's are its master's
}

// servers reads CLUSTER NODES: `ID ADDRESS@BUS FLAGS MASTER PING PONG EPOCH LINK SLOTS…`, a line a node.
func (c *control) servers(ctx context.Context) ([]holder, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	text, err := c.client.Do(ctx, c.client.B().ClusterNodes().Build()).ToString()
	if err != nil {
		return nil, fmt.Errorf("asking for the nodes: %w", err)
	}
	return parseNodes(strings.TrimPrefix(text, "txt:")) // a verbatim string of RESP3 begins with its kind
}

func parseNodes(text string) (holders []holder, err error) {
	type node struct{ id, address, flags, master string }
	var nodes []node
	has := map[string]*[slots]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 8 {
			return nil, fmt.Errorf("the answer to CLUSTER NODES is not understood: %.100q", line)
		}
		address, _, _ := strings.Cut(words[1], "@")
		address, _, _ = strings.Cut(address, ",") // a host name follows
		nodes = append(nodes, node{words[0], address, words[2], words[3]})
		own := &[slots]bool{}
		for _, word := range words[8:] {
			first, last, isRange := strings.Cut(word, "-")
			from, err := strconv.Atoi(first)
			if err != nil {
				continue // of a slot that is under way
			}
			to := from
			if isRange {
				if to, err = strconv.Atoi(last); err != nil {
					continue
				}
			}
			for slot := max(from, 0); slot <= min(to, slots-1); slot++ {
				own[slot] = true
			}
		}
		has[words[0]] = own
	}
	for _, each := range nodes {
		if flags := strings.Split(each.flags, ","); isGone(flags) {
			continue
		}
		of := has[each.id]
		if each.master != "-" {
			of = has[each.master]
		}
		if of == nil || *of == ([slots]bool{}) {
			continue // it has nothing
		}
		if _, _, err := net.SplitHostPort(each.address); err != nil || strings.HasPrefix(each.address, ":") {
			return nil, errors.New("a node of the cluster does not know its own address; have it met by another one")
		}
		holders = append(holders, holder{each.address, of})
	}
	return holders, nil
}

func isGone(flags []string) bool {
	for _, flag := range flags {
		if flag == "fail" || flag == "noaddr" || flag == "handshake" {
			return true
		}
	}
	return false
}

type serverCopy struct {
	holder
	d      *Driver
	client client
}

func (d *Driver) copyOf(of holder) (*serverCopy, error) {
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return nil, err
	}
	client := goredis.NewClient(&goredis.Options{
		Addr:                  of.address,
		Username:              d.config.Username,
		Password:              d.config.Password,
		TLSConfig:             encryption,
		DialTimeout:           driver.Milliseconds(d.policy.ConnectTimeoutMS),
		ContextTimeoutEnabled: true,
		// Or a replica sends us to its master.
		OnConnect: func(ctx context.Context, connection *goredis.Conn) error { return connection.ReadOnly(ctx).Err() },
	})
	return &serverCopy{of, d, &goRedisClient{client}}, nil
}

func (s *serverCopy) Server() string { return s.address }
func (s *serverCopy) Close()         { s.client.close() }

func (s *serverCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var own []string
	var reads []command
	for _, id := range ids {
		key := s.d.keys().Key(verified, id)
		if s.has[slotOf(key)] {
			own, reads = append(own, id), append(reads, read("GET", key))
		}
	}
	if len(own) == 0 {
		return nil
	}
	for i, one := range s.client.together(ctx, reads) {
		if one.err != nil {
			return redacted(one.err, s.d.config)
		}
		each(readBack(own[i], one.value, counter))
	}
	return nil
}
