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
	endpoint string
	config   *Config
	conn     *grpc.ClientConn
	kv       clientv3.KV

	token   atomic.Pointer[string] // of the user; nil: none yet
	mu      sync.Mutex
	renewal *renewal // of the token; nil: none is under way

	ours  atomic.Bool // it belongs to the cluster of the store
	state atomic.Pointer[memberState]

	calls, failed, nanoseconds atomic.Int64
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
	m := &member{endpoint: endpoint, config: config}
	m.conn, err = grpc.NewClient("dns:///"+u.Host,
		grpc.WithTransportCredentials(security),
		grpc.WithNoProxy(),
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
	m.kv = clientv3.NewKVFromKVClient(etcdserverpb.NewKVClient(m.conn), nil)
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
func (m *member) send(ctx context.Context, t txn) (resp *clientv3.TxnResponse, err error) {
	start := time.Now()
	defer func() {
		m.calls.Add(1)
		m.nanoseconds.Add(int64(time.Since(start)))
		if err != nil {
			m.failed.Add(1)
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("no response within %v: %w", time.Since(start).Round(time.Millisecond), context.DeadlineExceeded)
			}
			err = &memberError{m.endpoint, err}
		}
	}()
	if !t.stale {
		ctx = clientv3.WithRequireLeader(ctx)
	}
	if m.config.Username == "" {
		return m.commit(ctx, t)
	}
	for first := true; ; first = false {
		token := m.token.Load()
		if token != nil {
			with := ctx
			if *token != "" {
				with = metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, *token)
			}
			resp, err = m.commit(with, t)
			if !first || !errors.Is(err, rpctypes.ErrInvalidAuthToken) && !errors.Is(err, rpctypes.ErrAuthOldRevision) && !errors.Is(err, rpctypes.ErrUserEmpty) {
				return resp, err
			}
		}
		if err := m.renew(ctx, token); err != nil {
			return nil, err
		}
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

// refusedFor is how long a refusal of the password stands before the next
// request for a token.
const refusedFor = time.Second

// renewal is a request for a new token. err is valid once done is closed.
type renewal struct {
	done chan struct{}
	err  error
}

// renew gets a token in place of old. The calls that need one share a request,
// because each costs the member a slow hash of the password. The request goes on
// if their time ends before.
func (m *member) renew(ctx context.Context, old *string) error {
	m.mu.Lock()
	if m.token.Load() != old {
		m.mu.Unlock()
		return nil
	}
	r := m.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		m.renewal = r
		go func() {
			token, err := m.authenticate()
			m.mu.Lock()
			defer m.mu.Unlock()
			if r.err = err; err == nil {
				m.token.Store(&token)
			}
			close(r.done)
			if m.renewal = nil; err != nil && !transient(err) {
				m.renewal = r
				time.AfterFunc(refusedFor, func() {
					m.mu.Lock()
					defer m.mu.Unlock()
					m.renewal = nil
				})
			}
		}()
	}
	m.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// authenticate returns a new token. It is empty if the cluster has no users.
func (m *member) authenticate() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.config.RequestTimeout)
	defer cancel()
	password, err := m.config.Password()
	if err != nil {
		return "", err
	}
	resp, err := etcdserverpb.NewAuthClient(m.conn).Authenticate(ctx, &etcdserverpb.AuthenticateRequest{Name: m.config.Username, Password: password})
	if err = clientv3.ContextError(ctx, err); errors.Is(err, rpctypes.ErrAuthNotEnabled) {
		return "", nil
	}
	return resp.GetToken(), err
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
	case errors.Is(e.err, rpctypes.ErrUserEmpty):
		return "the cluster requires a user and a password"
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
	case has("server preface") && has("use of closed network connection"):
		// gRPC gave up waiting. A member that has just started does that too.
		text = "it accepts connections, and sends nothing"
	case has("look like a TLS handshake") || has("handshake failed: EOF"):
		text += " (is it http?)"
	case !secure && has("server preface"):
		text += " (is it https?)"
	case secure && (has("certificate required") || has("broken pipe") || has("connection reset")):
		// The connection may end before the member's reason arrives.
		text += " (does it accept the client's certificate?)"
	}
	return text
}
