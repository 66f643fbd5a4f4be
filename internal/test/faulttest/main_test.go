//go:build linux

package faulttest

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	_ "example.com/animalstore/internal/serve" // for the go command: a changed server needs another run
	"example.com/animalstore/internal/test/process"
)

var (
	full = flag.Bool("full", false, "run the long form of the tests")
	seed = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the parallel tests spend their time waiting
	os.Exit(process.Main(m))
}

// rounds returns how often to repeat what a test does, and its randomness.
func rounds(short, long int) (int, *rand.Rand) {
	n := short
	if *full {
		n = long
	}
	return n, rand.New(rand.NewPCG(*seed, 0))
}
