// Refserver-etcd serves the petstore from an etcd cluster.
// "refserver-etcd -h" lists its flags and commands.
package main

import (
	"os"

	"example.com/animalstore/cmd/refserver-etcd/internal/refserver"
)

func main() { os.Exit(refserver.Program().Main()) }
