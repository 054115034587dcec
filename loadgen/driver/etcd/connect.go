package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

func hostsOf(uri string) ([]string, error) {
	return driver.Hosts(uri, "etcd://10.0.0.1:2379,10.0.0.2:2379")
}

// The pace at which gRPC connects again, as it is without being told. Only the
// longest pause is a choice.
const (
	firstPause   = time.Second
	pauseGrowth  = 1.6
	pauseJitter  = 0.2
	messageBytes = 64 << 20 // a batch of large records is larger than the client's own 2 MiB
)

// settingsFor turns the configuration into that of a client of these members.
func (d *Driver) settingsFor(alive context.Context, hosts ...string) (clientv3.Config, error) {
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return clientv3.Config{}, err
	}
	scheme := "http://"
	if encryption != nil {
		scheme = "https://"
	}
	endpoints := make([]string, len(hosts))
	for i, host := range hosts {
		endpoints[i] = scheme + host
	}
	p := d.policy
	pace := backoff.Config{
		BaseDelay: firstPause, Multiplier: pauseGrowth, Jitter: pauseJitter, MaxDelay: driver.Milliseconds(p.ReconnectMaxMS),
	}
	return clientv3.Config{
		Endpoints:            endpoints,
		Context:              alive,
		TLS:                  encryption,
		Username:             d.config.Username,
		Password:             d.config.Password,
		DialTimeout:          driver.Milliseconds(p.ConnectTimeoutMS), // of the login
		DialKeepAliveTime:    driver.Milliseconds(p.KeepaliveTimeMS),
		DialKeepAliveTimeout: driver.Milliseconds(p.KeepaliveTimeoutMS),
		PermitWithoutStream:  true,
		MaxCallSendMsgSize:   messageBytes,
		Logger:               zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithStatsHandler(counter{}),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: pace, MinConnectTimeout: driver.Milliseconds(p.ConnectTimeoutMS),
			}),
		},
	}, nil
}

// refuse has a request fail at once where there is no connection; the client's own way is to wait
// for one to the only member that it has.
func refuse(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	send grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	return send(ctx, method, request, reply, connection, append(options, grpc.WaitForReady(false))...)
}

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if strings.Contains(text, rpctypes.ErrPermissionDenied.Error()) {
		text += fmt.Sprintf("; give the user a role that may read and write all keys with the prefix %q", c.Namespace+"/")
	}
	return c.Redacted(text)
}
