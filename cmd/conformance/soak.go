package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

// soakSettings are the flags of conformance soak.
type soakSettings struct {
	settings
	soak    conformance.SoakOptions
	restart string
}

func soakCommand() flags.Command {
	var s soakSettings
	return flags.Command{
		Name:  "soak",
		About: "load a target for a long time, restart it meanwhile, and report what was lost, changed or created twice",
		Flags: s.define,
		Run:   s.run,
	}
}

func (s *soakSettings) define(fs *flag.FlagSet) {
	s.defineTarget(fs)
	s.defineReports(fs)
	fs.DurationVar(&s.soak.For, "for", 10*time.Minute, "stop after this `time`, or at Ctrl-C")
	fs.StringVar(&s.restart, "restart", "", "`command` for sh that restarts the target (with kill -9, as after a crash); it must end within a minute, and need not wait until the target responds (default: no restarts)")
	fs.DurationVar(&s.soak.Every, "every", 30*time.Second, "`time` between two restarts")
}

// run loads the target and writes the reports. Its error has the exit code.
func (s *soakSettings) run(c *flags.Call) error {
	switch {
	case s.soak.For < time.Millisecond || s.soak.Every < time.Millisecond:
		return flags.Usagef("-for and -every: must be at least 1ms")
	case s.restart == "" && slices.Contains(c.Given, "every"):
		return flags.Usagef("-every, the time between two restarts, needs -restart")
	case s.restart != "" && s.soak.Every >= s.soak.For:
		return flags.Usagef("no restart: -every %v is not shorter than -for %v", s.soak.Every, s.soak.For)
	}
	if s.restart != "" {
		s.soak.Restart = func(ctx context.Context) error {
			fmt.Fprintf(c.Stderr, "%s restart\n", time.Now().Format(time.TimeOnly))
			cmd := exec.CommandContext(ctx, "sh", "-c", s.restart)
			cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // files, which a target that it starts may keep
			return cmd.Run()
		}
	}
	return s.judge(c, func(ctx context.Context) (*conformance.Report, error) {
		return conformance.Soak(ctx, s.target, &s.opts, s.soak)
	})
}
