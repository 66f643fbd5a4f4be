//go:build linux

package faulttest

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"example.com/animalstore/internal/etcd"
)

var full = flag.Bool("full", false, "run the long form of the tests")

// either returns long in a full run, otherwise short.
func either[T any](long, short T) T {
	if *full {
		return long
	}
	return short
}

const binVariable = "FAULTTEST_BIN"

// bin is the directory of etcd, etcdctl, etcdutl and refserver-etcd. It is set
// in the process that runs the tests.
var bin = os.Getenv(binVariable)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if bin == "" {
		err = isolate()
	} else if err = setUpNetwork(); err == nil {
		os.Exit(m.Run())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// isolate builds the programs and runs this process again in a network namespace
// of its own. Where that is impossible, it skips the tests, or fails in CI.
func isolate() error {
	try := exec.Command("ip", "link", "add", "bridge", "type", "bridge")
	try.SysProcAttr = namespace()
	if out, err := try.CombinedOutput(); err != nil {
		err = fmt.Errorf("the tests need ip(8) and permission to create network namespaces: %w %s", err, out)
		if os.Getenv("CI") == "true" {
			return err
		}
		log.Print("skipped: ", err)
		return nil
	}
	dir, err := os.MkdirTemp("", "faulttest-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command("go", "build", "-o", dir+"/", "example.com/animalstore/cmd/refserver-etcd", etcd.Command).CombinedOutput()
	for _, name := range []string{"etcdctl", "etcdutl"} {
		if err == nil {
			err = os.Symlink("etcd", filepath.Join(dir, name))
		}
	}
	if err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	runtime.LockOSThread() // the child ends with this thread
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), binVariable+"="+dir, "NO_PROXY=*", "no_proxy=*")
	cmd.SysProcAttr = namespace()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Run()
}

// namespace says that a process has a network namespace of its own. A user who is
// not root needs a user namespace for that.
func namespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}
