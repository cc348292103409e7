// Annotations writes an execution trace of user annotations: tasks, regions and logs, well and badly nested, before
// and after the boundary of a generation.
//
//	annotations FILE
package main

import (
	"context"
	"log"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

// inNewGoroutine runs f in a goroutine of its own and waits for its end.
func inNewGoroutine(f func()) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		f()
	}()
	wg.Wait()
}

// nesting makes tasks within tasks and regions within regions, of one task and of several.
func nesting() {
	ctx1, task1 := trace.NewTask(context.Background(), "nesting")
	ctx2, task2 := trace.NewTask(ctx1, "nesting/child")
	ctx3, task3 := trace.NewTask(ctx2, "nesting/child/grandchild")
	trace.WithRegion(ctx1, "outer", func() {
		trace.WithRegion(ctx2, "middle", func() {
			trace.WithRegion(ctx3, "inner", func() {
				trace.Log(ctx3, "depth", "3")
			})
			trace.WithRegion(context.Background(), "inner without task", func() {})
		})
		// Two regions of the same name, one within the other.
		trace.WithRegion(ctx1, "outer", func() {})
	})

	// Several goroutines may work for one task.
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer trace.StartRegion(ctx2, "worker").End()
			trace.Log(ctx2, "worker", "at work")
		}()
	}
	wg.Wait()

	task3.End()
	task1.End() // The parent ends before its child.
	task2.End()
	_, late := trace.NewTask(ctx1, "child of an ended task")
	late.End()
}

// misuse ends tasks and regions too often, or never, or in another goroutine than the one that began them.
func misuse() {
	ctx, task := trace.NewTask(context.Background(), "ended twice")
	task.End()
	task.End()
	trace.Log(ctx, "late", "the task has ended")
	trace.WithRegion(ctx, "late region", func() {})

	trace.NewTask(context.Background(), "never ended")

	_, task = trace.NewTask(context.Background(), "ended by another goroutine")
	inNewGoroutine(task.End)

	inNewGoroutine(func() {
		trace.StartRegion(context.Background(), "never ended, outer")
		trace.StartRegion(context.Background(), "never ended, inner")
	})
}

// labels runs code under a profiler's labels, which change the goroutine but not the trace.
func labels() {
	pprof.Do(context.Background(), pprof.Labels("request", "42", "größe", "1\n2"), func(ctx context.Context) {
		inNewGoroutine(func() {
			trace.Log(ctx, "labels", "inherited")
		})
	})
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: annotations FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}

	// Begun before tracing: of this task the trace has the end and a log, but of the region nothing at all.
	early, earlyTask := trace.NewTask(context.Background(), "begun before tracing")
	earlyRegion := trace.StartRegion(early, "begun before tracing")

	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	trace.Log(early, "early", "the task began before tracing")
	earlyRegion.End()
	earlyTask.End()

	nesting()
	misuse()
	labels()

	// A task, a region of it and an open region elsewhere that outlive their generation, which lasts about a second.
	ctx, task := trace.NewTask(context.Background(), "across generations")
	region := trace.StartRegion(ctx, "across generations")
	release, released := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(released)
		outer := trace.StartRegion(ctx, "blocked across generations")
		inner := trace.StartRegion(context.Background(), "inner, blocked across generations")
		<-release
		inner.End()
		outer.End()
	}()
	time.Sleep(1200 * time.Millisecond)
	close(release)
	<-released
	trace.Log(ctx, "late", "the task began in an earlier generation")
	region.End()
	_, child := trace.NewTask(ctx, "child of a task of an earlier generation")
	child.End()
	task.End()

	// Still open when tracing stops.
	ctx, _ = trace.NewTask(context.Background(), "open at the end")
	trace.StartRegion(ctx, "open at the end")

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
