// Blocking writes an execution trace of goroutines that stop running for every reason a program can cause: channels,
// selects, locks, timers, the network poller, collections, yielding, preemption and blocking for ever.
//
//	blocking FILE
package main

import (
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

const pause = 2 * time.Millisecond

func channels() {
	unbuffered, buffered := make(chan int), make(chan int, 1)
	go func() { // blocks in a send, then in a send to a full channel
		unbuffered <- 1
		buffered <- 2
		buffered <- 3
		close(buffered)
	}()
	time.Sleep(pause)
	<-unbuffered
	time.Sleep(pause)
	for range buffered {
	}
}

func selects() {
	a, b, done := make(chan int), make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		for range 2 {
			select {
			case <-a:
			case b <- 1:
			}
		}
	}()
	time.Sleep(pause)
	a <- 1
	time.Sleep(pause)
	<-b
	<-done
}

func locks() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var rw sync.RWMutex
	cond := sync.NewCond(&sync.Mutex{})
	ready := false
	start := func(f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}

	mu.Lock()
	rw.Lock()
	for range 2 {
		start(func() { mu.Lock(); defer mu.Unlock() })
		start(func() { rw.RLock(); defer rw.RUnlock() })
	}
	start(func() { rw.Lock(); defer rw.Unlock() })
	for range 3 {
		start(func() {
			cond.L.Lock()
			defer cond.L.Unlock()
			for !ready {
				cond.Wait()
			}
		})
	}
	time.Sleep(pause)
	mu.Unlock()
	rw.Unlock()
	cond.L.Lock()
	ready = true
	cond.L.Unlock()
	cond.Signal()
	cond.Broadcast()
	wg.Wait()
}

func timers() {
	<-time.After(pause)
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for range 3 {
		<-ticker.C
	}
	fired := make(chan struct{})
	time.AfterFunc(pause, func() { close(fired) })
	<-fired
}

// poller reads from a pipe before there is anything to read: once until there is, once until the deadline.
func poller() {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var buf [1]byte
		r.Read(buf[:])
		r.SetReadDeadline(time.Now().Add(pause))
		r.Read(buf[:])
	}()
	time.Sleep(pause)
	w.Write([]byte{1})
	<-done
}

// spin keeps its thread busy without ever calling the scheduler.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// turns makes goroutines share one P: they yield, and are preempted because they do not.
func turns() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for range 3 {
				runtime.Gosched()
			}
		}()
		go func() {
			defer wg.Done()
			spin(30 * time.Millisecond)
		}()
	}
	wg.Wait()
}

// collections has two goroutines ask for a collection at once, so that one may wait for the other's.
func collections() {
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.GC()
		}()
	}
	wg.Wait()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: blocking FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	channels()
	selects()
	locks()
	timers()
	poller()
	turns()
	collections()
	go func() { select {} }()
	go func() { <-(chan int)(nil) }()
	go func() { // ends by Goexit in place of a return
		defer time.Sleep(pause)
		runtime.Goexit()
	}()
	time.Sleep(2 * pause)

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
