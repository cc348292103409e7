// Command mutator_utilization prints what Go's own internal/trace computes for the minimum mutator
// utilization of execution traces. It can be built only as a part of Go;
// make_go_numbers.sh does so.
//
// It prints lines of tab-separated columns:
//
//	TRACE FLAGS WINDOW MMU
//
// TRACE is the base name of the file, FLAGS what counts as not left to the program, and WINDOW a
// length in nanoseconds. MMU is a number, or "panic" if internal/trace panics.
package main

import (
	"bufio"
	"fmt"
	"internal/trace"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"
)

var flagSets = []struct {
	name  string
	flags trace.UtilFlags
}{
	{"stw", trace.UtilSTW},
	{"assist", trace.UtilAssist},
	{"sweep", trace.UtilSweep},
	{"background", trace.UtilBackground},
	{"stw,background,assist", trace.UtilSTW | trace.UtilBackground | trace.UtilAssist},
	{"stw,background,assist,perproc",
		trace.UtilSTW | trace.UtilBackground | trace.UtilAssist | trace.UtilPerProc},
	{"assist,sweep,perproc", trace.UtilAssist | trace.UtilSweep | trace.UtilPerProc},
}

var windows = []time.Duration{time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		events, err := read(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		for _, set := range flagSets {
			for _, window := range windows {
				fmt.Printf("%s\t%s\t%d\t%s\n", filepath.Base(path), set.name, window,
					mmu(events, set.flags, window))
			}
		}
	}
}

func read(path string) ([]trace.Event, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := trace.NewReader(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	var events []trace.Event
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
}

func mmu(events []trace.Event, flags trace.UtilFlags, window time.Duration) (text string) {
	defer func() {
		if recover() != nil {
			text = "panic"
		}
	}()
	curve := trace.NewMMUCurve(trace.MutatorUtilizationV2(events, flags))
	return fmt.Sprintf("%.17g", curve.MMU(window))
}
