package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestImportInterrupted ends an import that waits for standard input. It leaves
// nothing.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := command(dir, "import", "-new-ids", "-")
	if _, err := cmd.StdinPipe(); err != nil { // stays open until the command ends
		t.Fatal(err)
	}
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	err = p.Until("the new store is being made", func() bool {
		made, err := filepath.Glob(filepath.Join(dir, ".petstore.db.new-*"))
		return err == nil && len(made) > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, err := p.Wait()
	if err != nil || code != 1 {
		t.Errorf("exit code %d, %v", code, err)
	}
	oneLine(t, p.Stderr.String(), "nothing was imported", "context canceled")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
