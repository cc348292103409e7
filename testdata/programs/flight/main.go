//go:build go1.25

// Flight writes a snapshot of a flight recorder, that is, a trace whose beginning is lost: it starts in the middle of
// tasks, regions and blocked goroutines, and its first generation is not the first one of the recording.
//
//	flight FILE
package main

import (
	"context"
	"io"
	"iter"
	"log"
	"os"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: flight FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{
		MinAge:   500 * time.Millisecond,
		MaxBytes: 1 << 20,
	})
	if err := recorder.Start(); err != nil {
		log.Fatal(err)
	}

	// All of these begin in a part that the snapshot does not have, and end in one that it has.
	ctx, task := trace.NewTask(context.Background(), "begun before the snapshot")
	region := trace.StartRegion(ctx, "begun before the snapshot")
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	next()
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		log.Fatal(err)
	}
	release := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		defer trace.StartRegion(ctx, "blocked").End()
		<-release
	}()
	go func() {
		defer wg.Done()
		defer trace.StartRegion(ctx, "in a system call").End()
		var buf [1]byte
		syscall.Read(pipe[0], buf[:])
	}()

	for range 9 {
		time.Sleep(250 * time.Millisecond)
		trace.Log(ctx, "tick", "still recording")
	}
	close(release)
	syscall.Write(pipe[1], []byte{1})
	wg.Wait()
	next()
	stop()
	region.End()
	task.End()

	// A snapshot ends the generation. The second one, which is kept, has the end of the first.
	if _, err := recorder.WriteTo(io.Discard); err != nil {
		log.Fatal(err)
	}
	trace.Log(ctx, "tick", "after a snapshot")
	if _, err := recorder.WriteTo(f); err != nil {
		log.Fatal(err)
	}
	recorder.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
