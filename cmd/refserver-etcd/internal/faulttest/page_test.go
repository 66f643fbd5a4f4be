//go:build linux

package faulttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// each is the first line of the commands that every member's machine runs.
const each = "name=a ip=10.0.0.1\n"

// operator is the directory of the operator and the server. Each member has one
// of its own, with its name.
const operator = "operator"

// site is the machines of docs/cluster.md: a directory and a network namespace
// for each.
type site struct {
	t       *testing.T
	dir     string
	members map[string]*machine
}

func newSite(t *testing.T) *site {
	s := &site{t: t, dir: t.TempDir(), members: map[string]*machine{}}
	err := os.Mkdir(filepath.Join(s.dir, operator), 0o700)
	for i, name := range []string{"a", "b", "c"} {
		s.members[name] = newMachine(t, fmt.Sprint("10.0.0.", i+1))
		err = errors.Join(err, os.Mkdir(filepath.Join(s.dir, name), 0o700))
		// The files that an operator copies to a machine.
		for _, file := range []string{"ca.pem", name + ".pem", name + "-key.pem", "pets.snap"} {
			err = errors.Join(err, os.Symlink("../"+operator+"/"+file, filepath.Join(s.dir, name, file)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// run runs commands of the page on a machine.
func (s *site) run(name, commands string) error {
	s.t.Helper()
	var prefix []string
	if m := s.members[name]; m != nil {
		commands = strings.Replace(commands, each, fmt.Sprintf("name=%s ip=%s\n", name, m.addr), 1)
		prefix = inNamespaceOf(m.pid)
	}
	// A block may use what an earlier one has exported.
	commands = "[ ! -f env ] || . ./env\n" + commands + "\nexport -p >env\n"
	// The operator's commands do not expect that the leader changes, as it may on
	// a busy machine.
	_, err := shell(s.t, filepath.Join(s.dir, name), prefix, commands, "ETCD_HEARTBEAT_INTERVAL=500", "ETCD_ELECTION_TIMEOUT=5000")
	return err
}

// runAll runs commands on the machines that the page means.
func (s *site) runAll(commands string) {
	s.t.Helper()
	on := []string{operator}
	if strings.HasPrefix(commands, each) {
		on = []string{"a", "b", "c"}
	}
	for _, name := range on {
		if err := s.run(name, commands); err != nil {
			s.t.Fatal(err)
		}
	}
}

// stop stops the server, and then the members.
func (s *site) stop() {
	s.kill(operator, "server.pid")
	for name := range s.members {
		s.kill(name, "etcd.pid")
	}
}

// kill sends SIGTERM to a process, if it was started, and waits until all of its
// threads have ended: until then it may have sockets and files open.
func (s *site) kill(name, pidFile string) {
	if pid, err := os.ReadFile(filepath.Join(s.dir, name, pidFile)); err == nil {
		script := fmt.Sprintf(`kill %s; until [ "$(cat /proc/%[1]s/task/*/stat 2>/dev/null | grep -vc ' Z ')" = 0 ]; do sleep 0.1; done`, strings.TrimSpace(string(pid)))
		_ = exec.Command("sh", "-c", script).Run()
	}
}

// TestPage sets up the cluster of docs/cluster.md with the commands of that page
// in their order. After the snapshot is restored, everything that was
// acknowledged before it must be there.
func TestPage(t *testing.T) {
	s := newSite(t)
	var member, serve string // commands that start them
	var health string        // commands that check the members
	var stored []petstore.Pet
	for _, match := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page(t), -1) {
		commands := match[1]
		switch {
		case strings.Contains(commands, "etcd --name"):
			member = commands
		case strings.Contains(commands, "etcdctl endpoint health\n"):
			health = commands
		case strings.Contains(commands, "refserver-etcd -addr"):
			serve = commands
		case strings.Contains(commands, "snapshot save"):
			stored = s.addPets()
		case strings.Contains(commands, "snapshot restore"):
			s.addPets() // which the restored cluster does not have
			s.stop()
			s.runAll(commands)
			s.runAll(member)
			etcd.Eventually(t, "the health of the members", func() error { return s.run(operator, health) })
			s.runAll(serve) // which adds a pet
			got := s.server().list(t, "", 0)
			if len(got) != len(stored)+1 || !slices.Equal(got[:len(stored)], stored) {
				t.Errorf("the restored cluster has %v, want %v and one more", got, stored)
			}
			continue
		case strings.Contains(commands, "member remove"):
			s.kill("a", "etcd.pid")
			if err := os.RemoveAll(filepath.Join(s.dir, "a", "data")); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(commands) {
				etcd.Eventually(t, "the change of the members", func() error { return s.run(operator, line) })
			}
			if err := s.run("a", "state=existing\n"+member); err != nil {
				t.Fatal(err)
			}
			continue
		}
		s.runAll(commands)
	}
	s.addPets()
}

// server returns the server of the site.
func (s *site) server() *server {
	s.t.Helper()
	return &server{Server: &process.Server{
		Addresses: process.Addresses{URL: "http://" + serverAddress + ":8080/v1"},
		Key:       strings.TrimSpace(string(process.ReadFile(s.t, filepath.Join(s.dir, operator, "web.key")))),
		Client:    client,
	}}
}

// addPets adds pets and returns all.
func (s *site) addPets() []petstore.Pet {
	s.t.Helper()
	server := s.server()
	for i := range 200 {
		etcd.Eventually(s.t, "a creation", func() error {
			_, _, err := server.create(fmt.Sprint("pet ", i), "")
			return err
		})
	}
	return server.list(s.t, "", 0)
}
