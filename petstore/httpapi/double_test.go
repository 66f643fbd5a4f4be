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

// faulty is a store whose operations call the server's fault first, and fail with
// its error.
type faulty struct {
	*memory.Store
	server *server
}

func (f faulty) fault(ctx context.Context) error {
	if f.server.fault == nil {
		return nil
	}
	return f.server.fault(ctx)
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
