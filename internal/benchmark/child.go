package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/go-json-experiment/json"
)

// childVariable names, in a process's environment, the part of the benchmark
// that it is to play instead of measuring; its settings come as a line of JSON
// on standard input. A part that goes on until it is no longer needed ends with
// its standard input, so that none outlives the benchmark.
const childVariable = "PETSTORE_BENCHMARK_CHILD"

var children = map[string]func(settings []byte, rest io.Reader) error{
	"bare":   asChild(serveBare),
	"client": asChild(runClient),
	"writer": asChild(writeOn),
}

func asChild[T any](play func(T, io.Reader) error) func([]byte, io.Reader) error {
	return func(settings []byte, rest io.Reader) error {
		var s T
		if err := json.Unmarshal(settings, &s); err != nil {
			return err
		}
		return play(s, rest)
	}
}

// runChild plays a part if this process is there for one, and reports whether
// it was.
func runChild() bool {
	name, ok := os.LookupEnv(childVariable)
	if !ok {
		return false
	}
	in := bufio.NewReader(os.Stdin)
	settings, err := in.ReadBytes('\n')
	if err == nil {
		play := children[name]
		if play == nil {
			err = errors.New("there is no such part")
		} else {
			err = play(settings, in)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "benchmark: %s: %v\n", name, err)
		os.Exit(1)
	}
	return true
}

// child is a running part.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startChild(ctx context.Context, name string, settings any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd, stdin, bufio.NewReader(stdout)}
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		_ = c.kill()
		return nil, err
	}
	return c, nil
}

// read reads a line of JSON that the part has printed.
func (c *child) read(into any) error {
	line, err := c.stdout.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("a part of the benchmark broke off: %w", err)
	}
	return json.Unmarshal(line, into)
}

// end waits for the part to end, now that it is needed no longer.
func (c *child) end() error {
	_ = c.stdin.Close()
	return c.cmd.Wait()
}

// kill ends the part without a chance to do anything about it.
func (c *child) kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it says that it was killed
	return err
}

// tell prints a line of JSON for the benchmark to read.
func tell(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(b, '\n'))
	return err
}
