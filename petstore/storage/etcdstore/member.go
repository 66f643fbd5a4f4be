package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// member is an endpoint and the connection to it. It does not use etcd's client,
// which gets a new token for every call that needs one, and which does not say
// why it cannot connect.
type member struct {
	config *Config
	conn   *grpc.ClientConn
	kv     clientv3.KV // adds the prefix to keys
	ours   atomic.Bool // it belongs to the cluster of the store

	mu       sync.Mutex // for the rest, except Endpoint.URL
	Endpoint            // State is changed only when the member is checked
	token    *token     // of the user; nil: none yet
}

// newMember returns a member to which nothing is connected yet. It closes a
// connection on which nothing arrives.
func newMember(endpoint string, config *Config) (*member, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if u.Scheme == "https" {
		security = &freshTLS{credentials.NewTLS(nil), config}
	}
	m := &member{config: config, Endpoint: Endpoint{URL: endpoint}}
	m.conn, err = grpc.NewClient("dns:///"+u.Host,
		grpc.WithTransportCredentials(security),
		grpc.WithNoProxy(),
		grpc.WithUnaryInterceptor(config.intercept),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(2<<20), grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time:    10 * time.Second, // the least that gRPC accepts
			Timeout: 2 * time.Second,
		}),
		// By default gRPC waits up to two minutes before it tries again to
		// connect.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		}))
	if err != nil {
		return nil, err
	}
	m.kv = namespace.NewKV(clientv3.NewKVFromKVClient(etcdserverpb.NewKVClient(m.conn), nil), config.Prefix)
	return m, nil
}

// freshTLS asks for the TLS configuration at every handshake.
type freshTLS struct {
	credentials.TransportCredentials
	config *Config
}

func (f *freshTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, err := f.config.TLS()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(c).ClientHandshake(ctx, authority, conn)
}

func (f *freshTLS) Clone() credentials.TransportCredentials { return f }

// send sends a transaction once, with the token of the user. If the member does
// not accept the token, send gets another one first.
func (m *member) send(ctx context.Context, t txn) (*clientv3.TxnResponse, error) {
	start := time.Now()
	resp, err := m.sendWithToken(ctx, t)
	took := time.Since(start)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Calls++
	m.Seconds += took.Seconds()
	if err == nil {
		return resp, nil
	}
	m.Failed++
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no response within %v: %w", took.Round(time.Millisecond), context.DeadlineExceeded)
	}
	return nil, &memberError{m.URL, err}
}

func (m *member) sendWithToken(ctx context.Context, t txn) (*clientv3.TxnResponse, error) {
	if m.config.Username == "" {
		return m.commit(ctx, t)
	}
	for first := true; ; first = false {
		token, err := m.userToken(ctx)
		if err != nil {
			return nil, err
		}
		with := ctx
		if token.value != "" {
			with = metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, token.value)
		}
		resp, err := m.commit(with, t)
		if !first || !invalidToken(err) && !errors.Is(err, rpctypes.ErrUserEmpty) {
			return resp, err
		}
		m.forget(token)
	}
}

// commit sends a transaction once.
func (m *member) commit(ctx context.Context, t txn) (*clientv3.TxnResponse, error) {
	leases, id := etcdserverpb.NewLeaseClient(m.conn), int64(0)
	if t.ttl > 0 {
		lease, err := leases.LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{TTL: t.ttl})
		if err != nil {
			return nil, clientv3.ContextError(ctx, err)
		}
		id = lease.ID
		clientv3.WithLease(clientv3.LeaseID(id))(&t.then[0])
	}
	resp, err := m.kv.Txn(ctx).If(t.compares...).Then(t.then...).Else(t.otherwise...).Commit()
	if id != 0 && err != nil && !transient(err) { // nothing will use the lease, so it need not last
		_, _ = leases.LeaseRevoke(ctx, &etcdserverpb.LeaseRevokeRequest{ID: id})
	}
	return resp, err
}

// memberError is an error of a request to a member, which it names.
type memberError struct {
	endpoint string
	err      error
}

func (e *memberError) Error() string { return e.endpoint + ": " + e.reason() }
func (e *memberError) Unwrap() error { return e.err }

// reason is the error without the endpoint.
func (e *memberError) reason() string {
	switch {
	case errors.Is(e.err, rpctypes.ErrAuthFailed):
		return "the user or the password is wrong"
	case errors.Is(e.err, rpctypes.ErrPermissionDenied):
		return "the user (without one, the name in the certificate) may not read and write the prefix"
	}
	text := e.err.Error()
	if s, ok := status.FromError(e.err); ok {
		text = s.Message()
	}
	if cause, ok := strings.CutPrefix(text, `connection error: desc = "`); ok {
		text = strings.TrimPrefix(strings.TrimSuffix(cause, `"`), "transport: ")
	}
	secure := strings.HasPrefix(e.endpoint, "https:")
	switch has := func(part string) bool { return strings.Contains(text, part) }; {
	case has("look like a TLS handshake") || has("handshake failed: EOF"):
		text += " (is it http?)"
	case !secure && has("server preface") && !has("use of closed network connection"): // otherwise gRPC gave up waiting
		text += " (is it https?)"
	case secure && (has("certificate required") || has("broken pipe") || has("connection reset")):
		// The connection may end before the member's reason arrives.
		text += " (does it accept the client's certificate?)"
	}
	return text
}
