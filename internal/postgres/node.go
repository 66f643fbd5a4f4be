package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/process"
)

// Node is a PostgreSQL server of a cluster and the Patroni that runs it. The embedded
// process is Patroni: its Kill leaves PostgreSQL running.
type Node struct {
	*process.Process
	Name    string
	Dir     string // of all that belongs to the node
	Data    string // PostgreSQL's data directory, below Dir
	Address string // of PostgreSQL
	API     string // the address of Patroni's API

	cluster *Cluster
}

// Start starts Patroni, which does not run, and does not wait until it serves. Patroni
// starts PostgreSQL unless it runs, and copies the primary if there is no data.
func (n *Node) Start() error {
	if err := own(n.Dir); err != nil {
		return err
	}
	env := []string{
		"HOME=" + n.Dir, // for the file with passwords
		"PATRONI_NAME=" + n.Name,
		"PATRONI_POSTGRESQL_LISTEN=" + n.Address,
		"PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + n.Address,
		"PATRONI_POSTGRESQL_DATA_DIR=" + n.Data,
		"PATRONI_POSTGRESQL_BIN_DIR=" + programs(),
		"PATRONI_RESTAPI_LISTEN=" + n.API,
		"PATRONI_RESTAPI_CONNECT_ADDRESS=" + n.API,
		"PATRONI_ETCD3_HOSTS=" + n.cluster.address,
	}
	for _, user := range []string{"SUPERUSER", "REPLICATION", "REWIND", "RESTAPI"} {
		env = append(env, "PATRONI_"+user+"_PASSWORD="+n.cluster.password)
	}
	// The outputs go to a file: PostgreSQL has them too and may outlive Patroni. SIGTERM
	// makes Patroni end PostgreSQL as well.
	var err error
	n.Process, err = start(n.Dir, syscall.SIGTERM, env, "sh", "-c", `exec patroni "$0" >>log 2>&1`, n.cluster.config())
	return err
}

// log returns what Patroni and PostgreSQL have written since the first start.
func (n *Node) log() string {
	b, _ := os.ReadFile(filepath.Join(n.Dir, "log"))
	return string(b)
}

// Postmaster returns the process ID of PostgreSQL.
func (n *Node) Postmaster() (pid int, err error) {
	b, err := os.ReadFile(filepath.Join(n.Data, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		return 0, err
	}
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if !strings.Contains(string(args), n.Data) { // a process that was killed leaves its file
		return 0, fmt.Errorf("%s: PostgreSQL does not run", n.Name)
	}
	return pid, nil
}

// Pids returns the process IDs of Patroni, PostgreSQL and all that they have started.
func (n *Node) Pids() (pids []int) {
	if n.Running() {
		pids = family(n.Pid())
	}
	if pid, err := n.Postmaster(); err == nil {
		pids = append(pids, family(pid)...)
	}
	return pids
}

// KillAll kills all processes of the node, as the loss of the machine does, and waits
// until they have ended.
func (n *Node) KillAll() {
	kill(n.Pids())
	n.Kill()
}

// call sends a request to the node's Patroni, and decodes the response unless it is nil.
func (n *Node) call(method, path string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, "http://"+n.API+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.SetBasicAuth("patroni", n.cluster.password)
	client := http.Client{Timeout: 5 * time.Second} // Patroni may be stopped
	if method == "POST" {
		client.Timeout = time.Minute // a switchover takes time
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s of %s: %s: %s", method, path, n.Name, resp.Status, text)
	}
	if err == nil && response != nil {
		err = json.Unmarshal(text, response)
	}
	return err
}
