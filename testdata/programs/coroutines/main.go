//go:build go1.23

// Coroutines writes an execution trace of iter.Pull, whose coroutines switch to each other without the scheduler.
//
//	coroutines FILE
package main

import (
	"context"
	"iter"
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

// upTo yields the numbers below n.
func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// logged yields what seq does, with a log and a region around each value, from within the coroutine.
func logged(seq iter.Seq[int]) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		defer trace.StartRegion(context.Background(), "coroutine").End()
		for v := range seq {
			trace.Log(context.Background(), "yield", "value")
			if !yield(v, "value") {
				return
			}
		}
	}
}

// whole pulls to the end: the last switch destroys the coroutine.
func whole() (sum int) {
	next, stop := iter.Pull(upTo(3))
	defer stop()
	for {
		v, ok := next()
		if !ok {
			return sum
		}
		sum += v
	}
}

// stopped pulls some and stops, once before the first value and once after it.
func stopped() {
	_, stop := iter.Pull(upTo(3))
	stop()
	next, stop := iter.Pull2(logged(upTo(3)))
	next()
	stop()
	next()
}

// nested pulls from a coroutine that pulls from another.
func nested() {
	outer, stop := iter.Pull(func(yield func(int) bool) {
		inner, stop := iter.Pull(upTo(2))
		defer stop()
		for {
			v, ok := inner()
			if !ok || !yield(v) {
				return
			}
		}
	})
	defer stop()
	for {
		if _, ok := outer(); !ok {
			return
		}
	}
}

// blocking pulls from a coroutine that blocks and yields the processor before it gives its values.
func blocking() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		time.Sleep(time.Millisecond)
		if yield(1) {
			runtime.Gosched()
			yield(2)
		}
	})
	defer stop()
	next()
	next()
	next()
}

// passed has a coroutine resumed by another goroutine each time.
func passed() {
	next, stop := iter.Pull(upTo(4))
	for range 3 {
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			next()
		}()
		wg.Wait()
	}
	stop()
}

// panicking has the coroutine end by a panic, which next passes on.
func panicking() {
	defer func() { recover() }()
	next, _ := iter.Pull(func(yield func(int) bool) {
		yield(1)
		panic("end of coroutine")
	})
	next()
	next()
}

// locked pulls from a goroutine that owns its thread, so that the switches need the scheduler after all.
func locked() {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		whole()
	}()
	wg.Wait()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: coroutines FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}

	// Made before tracing starts, and resumed after it.
	early, stopEarly := iter.Pull(upTo(2))
	early()
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}
	early()
	stopEarly()

	whole()
	stopped()
	nested()
	blocking()
	passed()
	panicking()
	locked()

	// Not over when tracing stops.
	late, stopLate := iter.Pull(upTo(2))
	late()
	trace.Stop()
	late()
	stopLate()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
