package conformance

import "context"

// Sent runs against the target and returns every exchange.
func Sent(ctx context.Context, target Target) ([]Exchange, error) {
	s, err := newSession(target, nil)
	if err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancelCause(ctx)
	s.ctx = ctx
	defer s.stop(nil)
	if err := s.begin(true); err != nil {
		return nil, err
	}
	s.run()
	var sent []Exchange
	for _, x := range s.client.Exchanges() {
		sent = append(sent, newExchange(x, s.redact))
	}
	return sent, nil
}
