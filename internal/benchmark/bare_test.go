package benchmark

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// bareCommand is the argument that makes the test binary a bare server. An API
// key and the method of bbolt that creates use follow.
const bareCommand = "bare"

// runBare serves what a petstore on net/http and bbolt must do at least: it
// routes the request, looks up the key, checks the ID, query or body, stores
// the pet of a create, and writes a response, which is always the one that it
// first reads from standard input.
func runBare(key, method string) error {
	resp, err := http.ReadResponse(bufio.NewReader(os.Stdin), nil)
	if err != nil {
		return err
	}
	resp.Header.Del("Date") // net/http adds it
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	db, err := bbolt.Open("bare-"+method+".db", 0o600, nil)
	if err != nil {
		return err
	}
	commit := map[string]func(func(*bbolt.Tx) error) error{"Update": db.Update, "Batch": db.Batch}[method]
	accounts := map[[sha256.Size]byte]string{sha256.Sum256([]byte(key)): "benchmark"}
	mux := http.NewServeMux()
	handle := func(pattern string, operation func(*http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if accounts[sha256.Sum256([]byte(token))] == "" {
				http.Error(w, "unknown API key", http.StatusUnauthorized)
				return
			}
			if err := operation(r); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			maps.Copy(w.Header(), resp.Header)
			w.WriteHeader(resp.StatusCode)
			_, _ = w.Write(body)
		})
	}
	handle("GET /v1/pets/{id}", func(r *http.Request) error {
		_, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		return err
	})
	handle("GET /v1/pets", func(r *http.Request) error {
		values := r.URL.Query()
		limit, err := strconv.Atoi(cmp.Or(values.Get("limit"), "20"))
		_, rangeErr := petstore.ListQuery{Limit: limit, Status: petstore.Status(values.Get("status"))}.Normalize()
		return cmp.Or(err, rangeErr)
	})
	handle("POST /v1/pets", func(r *http.Request) error {
		var p petstore.NewPet
		if err := json.UnmarshalRead(r.Body, &p); err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return err
		}
		return commit(func(tx *bbolt.Tx) error { return put(tx, p) })
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "msg=serving url=http://%s/v1\n", ln.Addr()) // as a refserver does
	return http.Serve(ln, mux)
}

// put stores a pet under the next ID, and again in the list of its status.
func put(tx *bbolt.Tx, p petstore.NewPet) error {
	all, err := tx.CreateBucketIfNotExists([]byte("pets"))
	if err != nil {
		return err
	}
	sameStatus, err := tx.CreateBucketIfNotExists([]byte("status/" + p.Status))
	if err != nil {
		return err
	}
	id, err := all.NextSequence()
	if err != nil {
		return err
	}
	record, err := petstore.Pet{ID: int64(id), NewPet: p}.AppendJSON(nil)
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint64(nil, id)
	return errors.Join(all.Put(key, record), sameStatus.Put(key, record))
}
