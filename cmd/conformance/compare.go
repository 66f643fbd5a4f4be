package main

import (
	"flag"
	"os"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
)

func compareCommand() flags.Command {
	var markdown bool
	return flags.Command{
		Name:  "compare",
		About: "say how the second of two reports in JSON differs from the first: verdicts, and what the contract leaves open",
		Args:  "REPORT...",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&markdown, "markdown", false, "print Markdown, which fits into a comment of a pull request")
		},
		Run: func(c *flags.Call) error {
			if len(c.Args) != 2 {
				return flags.Usagef("compare needs two reports, got %d", len(c.Args))
			}
			a, err := readReport(c.Args[0])
			if err != nil {
				return err
			}
			b, err := readReport(c.Args[1])
			if err != nil {
				return err
			}
			format := report.Text
			if markdown {
				format = report.Markdown
			}
			comparison := report.Compare(a, b)
			if err := comparison.Write(c.Stdout, format); err != nil {
				return flags.Usagef("the comparison cannot be printed: %v", err)
			}
			if len(comparison.Worse) > 0 {
				return flags.Exit(exitNotConformant)
			}
			return nil
		},
	}
}

func readReport(path string) (*conformance.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, flags.Usagef("%w", err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		return nil, flags.Usagef("%s: %w", path, err)
	}
	return r, nil
}
