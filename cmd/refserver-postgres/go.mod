module example.com/animalstore/cmd/refserver-postgres

go 1.26.0

require (
	example.com/animalstore v0.0.0
	example.com/animalstore/petstore/storage/postgres v0.0.0
	github.com/google/go-cmp v0.7.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace example.com/animalstore => ../..

replace example.com/animalstore/petstore/storage/postgres => ../../petstore/storage/postgres
