// Annotations writes an execution trace of user annotations: tasks, regions and logs, well and badly nested, with all
// kinds of strings, before and after the boundary of a generation.
//
//	annotations FILE
package main

import (
	"context"
	"log"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

// oddStrings are names and messages that a reader may get wrong when it prints, quotes or cuts them.
var oddStrings = []string{
	"",
	"plain",
	`"double" 'single' ` + "`back` quotes",
	`back\slash`,
	"two\nlines\r\n\tand a tab",
	"M=1 P=1 G=1 looks like an event",
	"control \x00\x01\x1b\x7f bytes",
	"größe, 日本語, Ελληνικά, 🙂",
	"e\u0301 combining, \u200b zero width, \u202e right to left, \ufeff BOM, \ufffd replacement",
	"\U000e0001 tag, \U0010ffff last code point, \u00a0 no-break space, \u00ad soft hyphen",
	"invalid UTF-8: \xff \xc3\x28 \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80",
	"<script>&amp;</script>",
	"%d %s %!",
	// The runtime cuts strings of more than 1024 bytes; here the cut falls inside a character.
	strings.Repeat("x", 1023) + "é and the rest is cut",
}

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

// names uses every odd string as the name of a task and of a region, and as both parts of a log.
func names() {
	for _, s := range oddStrings {
		ctx, task := trace.NewTask(context.Background(), s)
		trace.WithRegion(ctx, s, func() {
			trace.Log(ctx, s, s)
		})
		task.End()
	}
	trace.Logf(context.Background(), "format", "%d of %q", len(oddStrings), "strings")
	trace.Log(context.Background(), "no task", "the background context has none")
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

	names()
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
	trace.Log(ctx, "plain", oddStrings[7])
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
