// Gc writes an execution trace of garbage collection: cycles, mark assists, sweeps, stops of the world. Run it with a
// short period of the trace's generations, as in GODEBUG=traceadvanceperiod=12000000 (nanoseconds): then boundaries
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

// stops stops the world in several ways. Runtime.GC is none of them: it sweeps the whole heap before it returns, and
// yields after each span, with events of its own each time.
func stops() {
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
	debug.SetGCPercent(debug.SetGCPercent(50))
}

// mark has goroutines allocate enough for collections to begin. As there is little to mark at any time, they cannot pay
// for their allocations by marking, and wait in their assists.
func mark(d time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []byte
			for end := time.Now().Add(d); time.Now().Before(end); {
				own = make([]byte, 256<<10)
				time.Sleep(2 * time.Millisecond)
			}
			runtime.KeepAlive(own)
		}()
	}
	wg.Wait()
}

// sweep has goroutines make few but large allocations in a heap of many small spans. Before each they have to sweep a
// large share of the heap, so that one or another of them is sweeping most of the time.
func sweep(d time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var wg sync.WaitGroup
	for range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []byte
			for end := time.Now().Add(d); time.Now().Before(end); {
				own = make([]byte, 1<<20)
			}
			runtime.KeepAlive(own)
		}()
	}
	wg.Wait()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gc FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	// As long as there are idle Ps the background sweeper does not yield after every few spans.
	runtime.GOMAXPROCS(8)
	chain = makeChain(1 << 19)
	kept = make([][]byte, 64_000)
	for i := range kept {
		kept[i] = make([]byte, 1<<10)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	stops()
	mark(120 * time.Millisecond)
	chain = nil
	sweep(120 * time.Millisecond)

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
