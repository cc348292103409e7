// Alloc writes an execution trace of a small program's memory. Run it with GODEBUG=traceallocfree=1, which adds the
// experimental events of heap spans, heap objects and goroutine stacks.
//
//	alloc FILE
package main

import (
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

type point struct{ x, y int }

type node[T any] struct {
	value T
	next  *node[T]
}

var (
	small   *point
	list    *node[string]
	slice   []int
	table   map[string]*point
	text    string
	any1    any
	large   []byte
	stacked int
)

// allocate leaves objects of several sizes and types reachable, and as many unreachable.
func allocate() {
	for i := range 20 {
		small = &point{i, -i}
		list = &node[string]{value: "value", next: list}
		slice = append(slice, i)
		text = strings.Repeat("text", i)
		any1 = i * 1000
	}
	table = map[string]*point{}
	for _, key := range strings.Fields("one two three four five six seven eight nine ten") {
		table[key] = &point{len(key), 0}
	}
	large = make([]byte, 1<<20)
	large = make([]byte, 1<<17)
}

// deepen uses about depth KiB of its goroutine's stack, so that the stack has to grow.
func deepen(depth int) int {
	var frame [1 << 10]byte
	frame[depth%len(frame)] = byte(depth)
	if depth == 0 {
		return int(frame[0])
	}
	return deepen(depth-1) + int(frame[depth%len(frame)])
}

// stacks grows the stacks of n goroutines at a time, so that not each can reuse another's stack.
func stacks(n int) {
	var wg sync.WaitGroup
	barrier := make(chan struct{})
	sums := make([]int, n)
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[i] = deepen(4 << (i % 4))
			<-barrier
		}()
	}
	time.Sleep(time.Millisecond)
	close(barrier)
	wg.Wait()
	for _, sum := range sums {
		stacked += sum
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: alloc FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	// As long as there are idle Ps the background sweeper does not yield after every few spans.
	runtime.GOMAXPROCS(8)
	// What is there when tracing starts is written as existing spans, objects and stacks.
	allocate()
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	allocate()
	stacks(8)
	runtime.GC()

	// Free everything, objects, spans and stacks.
	small, list, slice, table, text, any1, large = nil, nil, nil, nil, "", nil, nil
	runtime.GC()
	allocate()

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
