package local

import (
	"fmt"
	"io"
	"os"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"example.com/animalstore/cmd/refserver-etcd/internal/refserver"
)

// roleVariable is the environment variable that makes the executable a member
// or a server. What follows an @ is a process whose network namespace it is in.
const roleVariable = "PETSTORE_ROLE"

// The roles beside that of the program itself.
const (
	roleMember = "member" // an etcd server, with its own flags
	roleServer = "server" // refserver-etcd, with its own flags
)

// Role returns at once in a process that was started as itself. In one that
// was started to be a member or a server it is that, and does not return.
func Role() {
	role, namespace, elsewhere := strings.Cut(os.Getenv(roleVariable), "@")
	if elsewhere {
		_ = os.Setenv(roleVariable, role)
		fmt.Fprintln(os.Stderr, enter(namespace))
		os.Exit(1)
	}
	switch role {
	case roleMember:
		go endWithParent()
		etcdmain.Main(os.Args)
		os.Exit(0)
	case roleServer:
		go endWithParent()
		os.Exit(refserver.Program().Main())
	}
}

// endWithParent ends the process when its standard input does: whoever started
// it holds the other end and never writes to it.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
