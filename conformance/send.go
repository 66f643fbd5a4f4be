package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// step is a request and what judges the response.
type step struct {
	q     request
	judge func(*exchange)
}

// play sends the requests of the steps, several at a time. Then it judges the responses, one after
// the other, so that no judge needs a lock.
func (r *run) play(steps ...step) (last *exchange) {
	xs := make([]*exchange, len(steps))
	slots := make(chan struct{}, r.opts.Parallel)
	var wg sync.WaitGroup
	for i, s := range steps {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			xs[i] = r.try(s.q, 1)
		})
	}
	wg.Wait()
	for i, x := range xs {
		xs[i] = r.tryAgain(x)
		r.mustServe(xs[i])
	}
	for i, s := range steps {
		last = xs[i]
		s.judge(last)
	}
	return last
}

// send sends q. Its response is judged only by what holds for every one.
func (r *run) send(q request) *exchange { return r.play(step{q, func(*exchange) {}}) }

// tryAgain records x and sends its request up to two times more, if it was not served. Then it is the
// only request under way and has a new connection, since the target may have a limit for requests or
// connections.
func (r *run) tryAgain(x *exchange) *exchange {
	r.receive(x)
	for _, pause := range []time.Duration{100 * time.Millisecond, 2 * time.Second} {
		if !r.failed(x) {
			break
		}
		r.http.CloseIdleConnections() // before the pause, so that the target has seen it
		seconds, _ := strconv.Atoi(x.header.Get("Retry-After"))
		r.sleep(min(max(pause, time.Duration(seconds)*time.Second), 5*time.Second) - time.Since(x.received))
		x = r.try(x.request, x.try+1)
		r.receive(x)
	}
	return x
}

// failed reports whether the target should have served x and did not.
func (r *run) failed(x *exchange) bool {
	return x.try > 0 && !x.served() && !x.request.mayBeLost() && r.ctx.Err() == nil
}

// mustServe ends the run if x was not served, even when it was tried again. A few requests may get no
// response while others do, which is a violation. Each one takes long.
func (r *run) mustServe(x *exchange) {
	if !r.failed(x) {
		return
	}
	if x.status == 0 && !isUnreachable(x.err) && r.try(get("/pets?limit=1"), 1).served() {
		r.record("http.response", x, wrong("the request was sent %d times and got no response, while others did: %v", x.try, x.err))
		if r.lost++; r.lost < 4 {
			return
		}
	}
	r.stop(fmt.Errorf("the target does not serve a request, sent %d times: %s\n%s", x.try, x.statusLine(), x.curl()))
}

// try sends q once. If q must not be sent, because the run has ended or only reads, or there is no
// such operation, it returns an exchange that no check judges.
func (r *run) try(q request, try int) *exchange {
	if r.ctx.Err() != nil || r.opts.ReadOnly && q.method != http.MethodGet || r.noMessages && q.forMessages() ||
		r.removed && q.op() == opGet {
		return &exchange{request: q}
	}
	x := &exchange{request: q, url: r.target.URL + q.path, try: try, sent: time.Now()}
	if q.forMessages() {
		x.url = r.target.MessagesURL + q.path
	}
	x.err = r.exchange(x)
	x.received = time.Now()
	if r.opts.record != nil {
		r.opts.record(x)
	}
	return x
}

func (r *run) exchange(x *exchange) error {
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.Timeout)
	defer cancel()
	hr, err := x.request.http(ctx, x.url, r.target.Key)
	if err != nil {
		return err
	}
	res, err := r.http.Do(hr)
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // x has the URL already
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed without a response")
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols { // no timeout ends the body of a 101
		return errors.New("101 Switching Protocols, for which the request did not ask")
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return err // a part of a response may end with a part of the key, which no report must show
	}
	x.proto, x.header, x.body = res.Proto, res.Header, body
	if err := x.decompress(); err != nil {
		return err
	}
	x.status = res.StatusCode
	return nil
}

// isUnreachable reports whether err says that no connection could be made.
func isUnreachable(err error) bool {
	oe, ok := errors.AsType[*net.OpError](err)
	return ok && oe.Op == "dial" || err != nil && strings.Contains(err.Error(), "tls:")
}

// newTransport returns a transport that follows the proxy settings of the environment.
func newTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       time.Second, // shorter than any server's, so that the client closes first
		TLSHandshakeTimeout:   timeout,
		ExpectContinueTimeout: time.Second,
	}
}

func (r *run) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}
