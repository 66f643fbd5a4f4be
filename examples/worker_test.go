package examples

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// TestWorkerKilled: a worker that is killed after the delivery of a message, and
// before its removal, delivers it again.
func TestWorkerKilled(t *testing.T) {
	type delivery struct {
		message string
		respond chan struct{}
	}
	received := make(chan delivery)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		d := delivery{r.URL.Query().Get("id") + " " + string(text), make(chan struct{})}
		select {
		case received <- d:
			select {
			case <-d.respond:
			case <-r.Context().Done():
			}
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(receiver.Close)
	want := func(message string) delivery {
		t.Helper()
		select {
		case d := <-received:
			if d.message != message {
				t.Fatalf("received %s, want %s", d.message, message)
			}
			return d
		case <-time.After(process.Patience):
			t.Fatalf("%s was not received", message)
			return delivery{}
		}
	}
	dir := t.TempDir()
	key := createKey(t, dir)

	s := start(t, dir, key, "worker", "-deliver", receiver.URL)
	s.Must(202, "POST", "/messages", `{"message":"one"}`)
	s.Must(202, "POST", "/messages", `{"message":"two"}`)
	want("msg_1 one")
	s.Kill()

	s = start(t, dir, key, "worker", "-deliver", receiver.URL)
	close(want("msg_1 one").respond)
	close(want("msg_2 two").respond)
	s.Must(202, "POST", "/messages", `{"message":"three"}`) // follows what was removed
	close(want("msg_3 three").respond)
}
