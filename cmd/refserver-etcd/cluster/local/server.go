package local

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Server is a reference server in front of the cluster.
type Server struct {
	child
	addr  string
	admin string
	args  []string
}

// keysName is the name of the file with the API keys, which all servers use.
const keysName = "petstore.keys"

// URL returns the base address, without /pets.
func (s *Server) URL() string { return "http://" + s.addr + "/v1" }

// AdminURL returns the admin address.
func (s *Server) AdminURL() string { return "http://" + s.admin }

// Start starts the server and returns when it serves. A server that is started
// again has the same addresses.
func (s *Server) Start() error {
	if err := s.start(s.args...); err != nil {
		return err
	}
	if _, err := s.Serving(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// newServer returns a server that has not been started.
func newServer(dir, name string, endpoints []string, extra []string) (*Server, error) {
	s := &Server{}
	s.child = child{name: name, role: roleServer, dir: filepath.Join(dir, name)}
	var err error
	if s.addr, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddress(); err != nil {
		return nil, err
	}
	s.args = append([]string{
		"-addr=" + s.addr,
		"-admin-addr=" + s.admin,
		"-keys=" + filepath.Join(dir, keysName),
		"-etcd=" + strings.Join(endpoints, ","),
		"-new-store", // no effect on one that exists
	}, extra...)
	return s, nil
}

// createKey creates the key file and returns a key.
func createKey(dir string) (string, error) {
	p := child{name: "keys create", role: roleServer, dir: dir}
	if err := p.start("keys", "create", "-keys="+filepath.Join(dir, keysName), "local"); err != nil {
		return "", err
	}
	<-p.Ended
	return p.Key()
}
