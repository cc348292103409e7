// Command go_profiles prints digests of the profiles that `go tool trace -pprof` makes of execution
// traces, for which it runs the go command $GO. It can be built only as a part of Go;
// make_go_numbers.sh does so.
//
// It prints lines of tab-separated columns:
//
//	TRACE TYPE SAMPLES COUNT TIME DIGEST
//
// TRACE is the base name of the file, SAMPLES how many there are, COUNT and TIME their sums, and
// DIGEST the sum of the FNV-1a hashes of all samples as text: the count, the time, and the frames
// from the innermost on, as FUNCTION:LINE;.
package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"internal/profile"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		for _, kind := range []string{"net", "sync", "syscall", "sched"} {
			out, err := exec.Command(os.Getenv("GO"), "tool", "trace", "-pprof="+kind, path).Output()
			if err != nil {
				log.Fatalf("%s %s: %v", path, kind, err)
			}
			p, err := profile.Parse(bytes.NewReader(out))
			if err != nil {
				log.Fatalf("%s %s: %v", path, kind, err)
			}
			printDigest(filepath.Base(path), kind, p)
		}
	}
}

func printDigest(name, kind string, p *profile.Profile) {
	var count, time int64
	var digest uint64
	for _, sample := range p.Sample {
		count += sample.Value[0]
		time += sample.Value[1]
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d ", sample.Value[0], sample.Value[1])
		for _, loc := range sample.Location {
			fmt.Fprintf(h, "%s:%d;", loc.Line[0].Function.Name, loc.Line[0].Line)
		}
		digest += h.Sum64()
	}
	fmt.Printf("%s\t%s\t%d\t%d\t%d\t%d\n", name, kind, len(p.Sample), count, time, digest)
}
