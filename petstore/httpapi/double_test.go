package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// recorder collects values from the goroutines of handlers.
type recorder[T any] struct {
	mu   sync.Mutex
	seen []T
}

func (r *recorder[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, v)
}

// take returns what was added since the last call.
func (r *recorder[T]) take() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

// logBuffer collects what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func newLogger(l *logBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// take returns what was logged since the last call.
func (l *logBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

// fixedQueue is a queue that returns the same record for every message.
type fixedQueue petstore.Message

func (m fixedQueue) SubmitMessage(context.Context, string, petstore.Once) (petstore.Message, error) {
	return petstore.Message(m), nil
}

// faulty is a store whose operations call fault first and fail with its error.
type faulty struct {
	*memory.Store
	fault func(context.Context) error
}

func (f faulty) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	if err := f.fault(ctx); err != nil {
		return petstore.Page{}, err
	}
	return f.Store.ListPets(ctx, q)
}

func (f faulty) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if err := f.fault(ctx); err != nil {
		return petstore.Pet{}, err
	}
	return f.Store.CreatePet(ctx, p, once)
}

func (f faulty) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if err := f.fault(ctx); err != nil {
		return petstore.Pet{}, err
	}
	return f.Store.GetPet(ctx, id)
}

func (f faulty) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	if err := f.fault(ctx); err != nil {
		return petstore.Message{}, err
	}
	return f.Store.SubmitMessage(ctx, text, once)
}

// newFaultyServer returns a server with a faulty store, and its log.
func newFaultyServer(t *testing.T, fault func(context.Context) error, opts httpapi.Options) (*server, *logBuffer) {
	t.Helper()
	log := new(logBuffer)
	opts.Logger = newLogger(log)
	store := memory.New(nil)
	return &server{t, store, listen(t, newHandler(faulty{store, fault}, testKeys, &opts))}, log
}
