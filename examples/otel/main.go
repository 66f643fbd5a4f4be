// Otel traces the requests of the petstore with OpenTelemetry. Each span is named
// after its route, such as "GET /pets/{petId}".
package main

import (
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// observe adds to the span of a request what only the handler knows. The span has
// not ended yet.
func observe(r *http.Request, o httpapi.Observation) {
	span := trace.SpanFromContext(r.Context())
	span.SetAttributes(attribute.String("user.id", o.Account))
	if o.Code != "" {
		span.SetAttributes(attribute.String("error.type", string(o.Code)))
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := apikey.Open("pets.keys", nil) // made with: go run example.com/animalstore/cmd/refserver keys create -keys pets.keys ACCOUNT
	if err != nil {
		log.Fatal(err)
	}

	// In production use otlptracehttp.New and WithBatcher, and call Shutdown before
	// the program ends: it exports the last spans.
	exporter, err := stdouttrace.New()
	if err != nil {
		log.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))

	// The handler sets the Pattern of the request that it receives. StripPrefix
	// passes on a copy of the request. So otelhttp must be inside StripPrefix:
	// outside, it would see only the mux's pattern, and name every span after /v1/.
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store, Observe: observe})
	traced := otelhttp.NewHandler(handler, "petstore", otelhttp.WithTracerProvider(provider))
	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", traced))

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	server := &http.Server{Handler: mux, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
