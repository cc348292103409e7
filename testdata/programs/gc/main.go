// Gc writes an execution trace of garbage collection: cycles, mark assists, sweeps, stops of the world. Run it with a
// short period of the trace's generations, as in GODEBUG=traceadvanceperiod=50000000 (nanoseconds): then boundaries
// of generations fall into collections, assists and sweeps, which a trace tells apart from those that begin after it.
//
//	gc FILE
package main

import (
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

// link is as large as a cache line, so that to follow a list of links is slow.
type link struct {
	next *link
	_    [56]byte
}

var (
	chain *link
	kept  [][]byte
	sink  []byte
)

// makeChain returns a list that takes a collector long to mark, because its links can only be marked one by one.
func makeChain(n int) *link {
	links := make([]link, n)
	// A step that is prime to n, and far from 1, visits every link, and never its neighbour next.
	const step = 1_000_003
	at := 0
	for range n - 1 {
		to := (at + step) % n
		links[at].next = &links[to]
		at = to
	}
	return &links[0]
}

// stops stops the world in several ways.
func stops() {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	var buf [1 << 10]byte
	runtime.Stack(buf[:], true)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer null.Close()
	pprof.Lookup("goroutine").WriteTo(null, 0)
	debug.FreeOSMemory()
	debug.SetGCPercent(debug.SetGCPercent(50))
}

// mark collects while others allocate. As there is little to mark at any time, they cannot pay for their allocations by
// marking, and wait in their assists.
func mark() {
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []byte
			for range 24 {
				own = make([]byte, 48<<10)
				time.Sleep(4 * time.Millisecond)
			}
			runtime.KeepAlive(own)
		}()
	}
	for range 4 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
}

// sweep keeps a heap of many small spans, and makes few but large allocations. Before each the program has to sweep a
// large share of the heap, so that most of the time something is being swept.
func sweep(d time.Duration) {
	kept = make([][]byte, 400_000)
	for i := range kept {
		kept[i] = make([]byte, 64)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	runtime.GC()
	for end := time.Now().Add(d); time.Now().Before(end); {
		sink = make([]byte, 3<<20)
	}
	kept = nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gc FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	chain = makeChain(1 << 20)
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	stops()
	mark()
	chain = nil
	sweep(300 * time.Millisecond)

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
