// Command goroutine_stats prints what Go's own internal/trace computes for the goroutines, regions
// and tasks of execution traces. It can be built only as a part of Go; make_go_numbers.sh does
// so.
//
// It prints lines of tab-separated columns:
//
//	TRACE goroutine ID NAME CREATION START END TIMES
//	TRACE region GOROUTINE TASK TYPE BEGIN END TIMES
//	TRACE task ID PARENT TYPE BEGIN END REGIONS LOGS GOROUTINES
//
// TRACE is the base name of the file. TIMES are TOTAL EXEC SCHED SYSCALL SYSCALL-BLOCK, and any
// number of block:REASON=TIME and range:NAME=TIME, both sorted. Times are in nanoseconds. What is
// not in the trace is "-", but START and END of goroutines are 0 then. REGIONS, LOGS and GOROUTINES
// are how many there are.
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
	"time"
)

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		summary, err := summarize(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		printSummary(filepath.Base(path), summary)
	}
}

func summarize(path string) (*trace.Summary, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := trace.NewReader(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	summarizer := trace.NewSummarizer()
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return summarizer.Finalize(), nil
		}
		if err != nil {
			return nil, err
		}
		summarizer.Event(&event)
	}
}

func printSummary(name string, summary *trace.Summary) {
	for _, id := range slices.Sorted(maps.Keys(summary.Goroutines)) {
		g := summary.Goroutines[id]
		fmt.Printf("%s\tgoroutine\t%d\t%q\t%d\t%d\t%d", name, id, g.Name, g.CreationTime, g.StartTime, g.EndTime)
		printTimes(g.GoroutineExecStats)
		for _, r := range g.Regions {
			fmt.Printf("%s\tregion\t%d\t%d\t%q\t%s\t%s", name, id, r.TaskID, r.Name, when(r.Start), when(r.End))
			printTimes(r.GoroutineExecStats)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(summary.Tasks)) {
		t := summary.Tasks[id]
		parent := "-"
		if t.Parent != nil {
			parent = fmt.Sprint(t.Parent.ID)
		}
		fmt.Printf("%s\ttask\t%d\t%s\t%q\t%s\t%s", name, id, parent, t.Name, when(t.Start), when(t.End))
		fmt.Printf("\t%d\t%d\t%d\n", len(t.Regions), len(t.Logs), len(t.Goroutines))
	}
}

func printTimes(s trace.GoroutineExecStats) {
	fmt.Printf("\t%d\t%d\t%d\t%d\t%d", s.TotalTime, s.ExecTime, s.SchedWaitTime, s.SyscallTime, s.SyscallBlockTime)
	printNamed("block", s.BlockTimeByReason)
	printNamed("range", s.RangeTime)
	fmt.Println()
}

func printNamed(kind string, times map[string]time.Duration) {
	for _, name := range slices.Sorted(maps.Keys(times)) {
		fmt.Printf("\t%s:%s=%d", kind, name, times[name])
	}
}

func when(event *trace.Event) string {
	if event == nil {
		return "-"
	}
	return fmt.Sprint(int64(event.Time()))
}
