// Command conformance judges a server of the petstore contract from outside. It
// also judges a client, by serving it. Both can be written in any language.
//
//	PETSTORE_API_KEY=... conformance run -url http://127.0.0.1:8080/v1
//	conformance serve
//	conformance list
//
// conformance -h shows the flags and exit codes.
package main

import (
	"os"

	"example.com/animalstore/internal/flags"
)

// The exit codes beside that of a usage error.
const (
	exitConformant    = 0
	exitNotConformant = 1
	exitNotJudged     = 3
	exitPartial       = 4
)

func main() { os.Exit(program().Main()) }

func program() *flags.Program {
	return &flags.Program{
		Name:     "conformance",
		About:    "judge a server or a client of the petstore contract from outside",
		Commands: []flags.Command{runCommand(), serveCommand(), listCommand()},
		Notes:    "Exit codes: 0 conformant, 1 not conformant, 2 wrong use, 3 not judged, 4 partial.\nOf serve: 0 no mistake, 1 mistakes, 2 wrong use, 3 no request succeeded.\n",
	}
}
