// Startstop starts and stops tracing many times while goroutines are at work, and writes one of the later traces. It is
// not the process's first, so what it names may have begun in an earlier trace, or between two.
//
//	startstop FILE
package main

import (
	"context"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

const (
	traces = 8
	chosen = 5 // counted from 0; not the last, lest its end be the process's end
)

// work keeps goroutines changing state until stop is closed.
func work(stop <-chan struct{}) (wait func()) {
	var wg sync.WaitGroup
	start := func(f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		}()
	}
	ping, pong := make(chan int), make(chan int)
	start(func() {
		select {
		case ping <- 1:
			time.Sleep(200 * time.Microsecond)
			<-pong
		case <-stop:
		}
	})
	start(func() {
		select {
		case v := <-ping:
			pong <- v
		case <-stop:
		}
	})
	start(func() {
		ts := syscall.Timespec{Nsec: 300_000}
		syscall.Nanosleep(&ts, nil)
	})
	start(func() {
		var wg sync.WaitGroup
		wg.Add(1)
		go wg.Done()
		wg.Wait()
		time.Sleep(500 * time.Microsecond)
	})
	start(func() {
		for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
		}
		time.Sleep(time.Millisecond)
	})
	return wg.Wait
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: startstop FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	stop := make(chan struct{})
	wait := work(stop)

	var task *trace.Task
	var region *trace.Region
	ctx := context.Background()
	for i := range traces {
		out := io.Writer(io.Discard)
		if i == chosen {
			out = f
		}
		if err := trace.Start(out); err != nil {
			log.Fatal(err)
		}
		switch i {
		case chosen - 1: // begun in the trace before
			ctx, task = trace.NewTask(ctx, "begun in an earlier trace")
			region = trace.StartRegion(ctx, "begun in an earlier trace")
		case chosen:
			trace.Log(ctx, "chosen", "this trace is the one that is written")
			region.End()
			task.End()
			ctx, task = trace.NewTask(ctx, "ended in a later trace")
			region = trace.StartRegion(ctx, "ended in a later trace")
		case chosen + 1:
			region.End()
			task.End()
		}
		time.Sleep(5 * time.Millisecond)
		trace.Stop()
		if i%2 == 0 { // else the next trace starts at once
			time.Sleep(time.Millisecond)
		}
	}

	close(stop)
	wait()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
