// Cpuprofile writes an execution trace with the samples of a CPU profile: of Go code under labels, of system calls and
// of the garbage collector.
//
//	cpuprofile FILE
package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

var sink uint64

// burn computes for the time d.
//
//go:noinline
func burn(d time.Duration) {
	x := uint64(88172645463325252)
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 10000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
	}
	sink = x
}

// write spends its time in system calls.
func write(d time.Duration) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer null.Close()
	buf := make([]byte, 1<<10)
	for end := time.Now().Add(d); time.Now().Before(end); {
		// Few writes, each followed by work, lest the trace hold nothing but writes.
		null.Write(buf)
		burn(2 * time.Millisecond)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: cpuprofile FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}
	// The profile starts after the trace and stops before it, so that the trace has parts with and without samples.
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		log.Fatal(err)
	}

	var wg sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			pprof.Do(context.Background(), pprof.Labels("worker", name), func(context.Context) {
				burn(150 * time.Millisecond)
			})
		}()
	}
	wg.Wait()
	write(50 * time.Millisecond)
	for range 2 {
		runtime.GC()
	}
	defer trace.StartRegion(context.Background(), "burn").End()
	burn(50 * time.Millisecond)

	pprof.StopCPUProfile()
	burn(20 * time.Millisecond)
	trace.Stop()
	if _, err := io.Copy(io.Discard, &profile); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
