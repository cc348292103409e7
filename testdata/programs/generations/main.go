// Generations writes an execution trace that is long for the few events it has: goroutines stay in every state over
// the boundaries of generations, which come about once a second.
//
//	generations FILE
package main

import (
	"context"
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	period = time.Second // of the runtime's generations
	length = 2*period + 600*time.Millisecond
)

// spin keeps its thread busy without ever calling the scheduler.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// readByte blocks its thread in a read; the runtime does not know how long it will take.
func readByte(fd int) {
	var buf [1]byte
	if _, err := syscall.Read(fd, buf[:]); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generations FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		log.Fatal(err)
	}
	release := make(chan struct{})
	var wg sync.WaitGroup
	start := func(f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}

	// There before the trace: in a system call, blocked, asleep, and as a coroutine.
	start(func() { readByte(pipe[0]) })
	start(func() { <-release })
	start(func() { time.Sleep(length) })
	resumeEarly := startCoroutine()
	time.Sleep(time.Millisecond)

	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}
	began := time.Now()
	ctx, task := trace.NewTask(context.Background(), "whole trace")
	region := trace.StartRegion(ctx, "whole trace")

	// The same again, made within the trace.
	start(func() {
		defer trace.StartRegion(ctx, "in a system call").End()
		readByte(pipe[0])
	})
	start(func() {
		defer trace.StartRegion(ctx, "blocked").End()
		<-release
	})
	start(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		select {
		case <-release:
		case <-time.After(10 * length):
		}
	})
	resumeLate := startCoroutine()

	// Runs over the first boundary, without an event in either generation but those of the boundary itself.
	start(func() {
		time.Sleep(period - 50*time.Millisecond)
		spin(150 * time.Millisecond)
	})
	// Blocked in the first generation, run in the second, blocked again until the third.
	start(func() {
		time.Sleep(period + period/2)
		trace.Log(ctx, "half way", "in the second generation")
		<-release
	})

	for tick := 0; time.Since(began) < length; tick++ {
		trace.Log(ctx, "tick", strconv.Itoa(tick))
		time.Sleep(200 * time.Millisecond)
	}
	if _, err := syscall.Write(pipe[1], []byte{1, 2}); err != nil {
		log.Fatal(err)
	}
	close(release)
	resumeEarly()
	resumeLate()
	wg.Wait()
	region.End()
	task.End()

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
