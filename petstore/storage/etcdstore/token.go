package etcdstore

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// token is what a member returns for the password of the user. value and err are
// valid once done is closed.
type token struct {
	done  chan struct{}
	value string // "": the cluster has no users
	err   error
}

// refusedFor is how long a refusal of the password stands before the next
// request for a token.
const refusedFor = time.Second

// userToken returns the token to send. The calls that need a new one share a
// request, because each costs the member a slow hash of the password. The request
// goes on if their time ends before.
func (m *member) userToken(ctx context.Context) (*token, error) {
	m.mu.Lock()
	t := m.token
	if t == nil {
		t = &token{done: make(chan struct{})}
		m.token = t
		go m.authenticate(t)
	}
	m.mu.Unlock()
	select {
	case <-t.done:
		return t, t.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forget makes the next call get another token than t.
func (m *member) forget(t *token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token == t {
		m.token = nil
	}
}

// authenticate gets a token.
func (m *member) authenticate(t *token) {
	ctx, cancel := context.WithTimeout(context.Background(), m.config.RequestTimeout)
	defer cancel()
	t.value, t.err = m.requestToken(ctx)
	close(t.done)
	switch {
	case t.err == nil:
	case transient(t.err):
		m.forget(t)
	default:
		time.AfterFunc(refusedFor, func() { m.forget(t) })
	}
}

func (m *member) requestToken(ctx context.Context) (string, error) {
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

// invalidToken reports whether a member does not accept the token.
func invalidToken(err error) bool {
	return errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision)
}
