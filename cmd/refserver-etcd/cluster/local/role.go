package local

import (
	"fmt"
	"io"
	"os"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"example.com/animalstore/cmd/refserver-etcd/internal/refserver"
)

// roleVariable is the environment variable that makes the executable a member or
// a server. After an @ it may have the ID of a process, whose network namespace
// it then runs in.
const roleVariable = "PETSTORE_ROLE"

// The roles besides that of the program itself.
const (
	roleMember = "member" // an etcd server, with its own flags
	roleServer = "server" // refserver-etcd, with its own flags
)

// Role runs the process as a member or a server if it was started as one, and
// does not return. Otherwise it returns at once.
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

// endWithParent ends the process when its standard input ends. The parent holds
// the other end of the pipe and never writes to it.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
