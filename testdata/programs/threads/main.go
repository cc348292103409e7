// Threads writes an execution trace of many operating system threads: goroutines that own theirs and hand work to each
// other, threads that end, and a number of Ps that changes.
//
//	threads FILE
package main

import (
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

// ring passes a token around n goroutines, each bound to a thread of its own, for some rounds.
func ring(n, rounds int) {
	var wg sync.WaitGroup
	links := make([]chan int, n)
	for i := range links {
		links[i] = make(chan int)
	}
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			// An odd one returns while locked, so that its thread ends with it.
			if i%2 == 0 {
				defer runtime.UnlockOSThread()
			}
			for range rounds {
				token := <-links[i]
				if next := i + 1; next < n {
					links[next] <- token
				}
			}
		}()
	}
	for round := range rounds {
		links[0] <- round
	}
	wg.Wait()
}

// naps has n threads in system calls at a time, more than there are Ps.
func naps(n int) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range 3 {
				ts := syscall.Timespec{Nsec: 1_000_000}
				syscall.Nanosleep(&ts, nil)
			}
		}()
	}
	wg.Wait()
}

// fan has one goroutine feed n others that are bound to nothing.
func fan(n, items int) {
	var wg sync.WaitGroup
	ch := make(chan int)
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range ch {
				for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
				}
			}
		}()
	}
	for i := range items {
		ch <- i
	}
	close(ch)
	wg.Wait()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: threads FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	for _, procs := range []int{2, 12, 1, 3} {
		runtime.GOMAXPROCS(procs)
		ring(6, 4)
		fan(8, 40)
		naps(16)
	}

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
