// Command goroutine_stats prints the times that Go's own internal/trace computes for the goroutines
// of execution traces. It can be built only as a part of Go; make_goroutine_stats.sh does so.
//
// For each goroutine it prints one line of tab-separated columns:
//
//	TRACE ID CREATION START END EXEC SCHED SYSCALL SYSCALL-BLOCK [REASON=BLOCK]...
//
// TRACE is the base name of the file. Times are in nanoseconds. Reasons are sorted.
package main

import (
	"bufio"
	"fmt"
	"internal/trace"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		if err := printGoroutines(path); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
	}
}

func printGoroutines(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := trace.NewReader(bufio.NewReader(file))
	if err != nil {
		return err
	}
	summarizer := trace.NewSummarizer()
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		summarizer.Event(&event)
	}
	goroutines := summarizer.Finalize().Goroutines
	for _, id := range slices.Sorted(maps.Keys(goroutines)) {
		g := goroutines[id]
		fmt.Printf("%s\t%d\t%d\t%d\t%d", filepath.Base(path), id, g.CreationTime, g.StartTime, g.EndTime)
		fmt.Printf("\t%d\t%d\t%d\t%d", g.ExecTime, g.SchedWaitTime, g.SyscallTime, g.SyscallBlockTime)
		for _, reason := range slices.Sorted(maps.Keys(g.BlockTimeByReason)) {
			fmt.Printf("\t%s=%d", reason, g.BlockTimeByReason[reason])
		}
		fmt.Println()
	}
	return nil
}
