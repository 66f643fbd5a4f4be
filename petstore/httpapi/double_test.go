package httpapi_test

import (
	"context"
	"log/slog"
	"sync"

	"example.com/animalstore/petstore"
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

// lineWriter adds every line that a logger writes to a recorder.
type lineWriter struct{ lines *recorder[string] }

func (w lineWriter) Write(p []byte) (int, error) {
	w.lines.add(string(p))
	return len(p), nil
}

func newLogger(lines *recorder[string]) *slog.Logger {
	return slog.New(slog.NewTextHandler(lineWriter{lines}, nil))
}

// faulty is a store whose operations return the error of fault.
type faulty struct {
	*memory.Store
	fault func(context.Context) error
}

func (f faulty) ListPets(ctx context.Context, _ petstore.ListQuery) (petstore.Page, error) {
	return petstore.Page{}, f.fault(ctx)
}

func (f faulty) CreatePet(ctx context.Context, p petstore.NewPet, _ petstore.Once) (petstore.Pet, error) {
	return petstore.Pet{ID: 1, NewPet: p}, f.fault(ctx)
}

func (f faulty) GetPet(ctx context.Context, _ int64) (petstore.Pet, error) {
	return petstore.Pet{}, f.fault(ctx)
}

func (f faulty) SubmitMessage(ctx context.Context, _ string, _ petstore.Once) (petstore.Message, error) {
	return petstore.Message{}, f.fault(ctx)
}
