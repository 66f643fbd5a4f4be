// Worker delivers the messages of the petstore to another service.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// drain delivers the queued messages, oldest first. It removes a message after its
// delivery, never before. So a crash loses no message, but may repeat a delivery.
func drain(ctx context.Context, queue petstore.Queue, url string) error {
	messages, err := queue.QueuedMessages(ctx, 100)
	for _, m := range messages {
		// A message that cannot be delivered delays those after it until the next
		// try. If it can never be delivered, store it elsewhere and remove it.
		if err := deliver(url, m); err != nil {
			return err
		}
		if err := queue.RemoveMessages(ctx, m.ID); err != nil {
			return err
		}
	}
	return err
}

var client = http.Client{Timeout: time.Minute}

// deliver may be called twice for a message. An ID is never used again, so the
// receiver can recognise a message that it has received before.
func deliver(url string, m petstore.Message) error {
	resp, err := client.Post(url+"?id="+m.ID, "text/plain; charset=utf-8", strings.NewReader(m.Text))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("delivering %s: %s", m.ID, resp.Status)
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	url := flag.String("deliver", "http://127.0.0.1:9000/", "`URL` to post messages to")
	flag.Parse()
	store, err := storage.Open("pets.db", nil) // only one process can open it, so the worker is part of the server
	if err != nil {
		log.Fatal(err)
	}
	keys, err := apikey.Open("pets.keys", nil) // made with: go run example.com/animalstore/cmd/refserver keys create -keys pets.keys ACCOUNT
	if err != nil {
		log.Fatal(err)
	}
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store})
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	server := &http.Server{Handler: http.StripPrefix("/v1", handler), ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	go func() { log.Fatal(server.Serve(listener)) }()
	for ; ; time.Sleep(time.Second) {
		if err := drain(context.Background(), store, *url); err != nil {
			log.Print(err)
		}
	}
}
