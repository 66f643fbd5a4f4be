package main

import (
	"slices"
	"testing"

	"example.com/animalstore/internal/process"
)

// If several servers start at the same time in an empty folder, exactly one
// serves.
func TestFirstStartsAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var started []*process.Process
			for range 3 {
				p, err := process.Start(command(dir))
				if err != nil {
					t.Fatal(err)
				}
				defer p.Kill()
				started = append(started, p)
			}
			serving := slices.DeleteFunc(started, func(p *process.Process) bool {
				_, err := p.Serving()
				if err != nil { // another server has the store open, or has not created its keys yet
					oneLine(t, p.Log(), "petstore.db")
				}
				return err != nil
			})
			if len(serving) != 1 {
				t.Fatalf("%d servers serve", len(serving))
			}
			key, err := serving[0].Key()
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, "refserver keys list\nstdout ^ID.*\\n.*default.*\\n$") // one key
			serving[0].Kill()
			run(t, dir, `start -must-exist
				201 POST /pets {"name":"Rex","categoryId":7} Authorization 'Bearer `+key+`'`)
		})
	}
}
