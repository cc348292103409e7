// Cgocallback writes an execution trace of threads that C started and that call Go functions. To the trace each is a
// goroutine that appears in a system call and ends in one.
//
//	cgocallback FILE
package main

/*
#cgo LDFLAGS: -pthread
#include <pthread.h>
#include <stdint.h>
#include <time.h>

void goCallback(int thread, int call);

static void napMillis(int ms) {
	struct timespec ts = {0, ms * 1000000L};
	nanosleep(&ts, 0);
}

static void *run(void *arg) {
	int thread = (int)(intptr_t)arg;
	for (int call = 0; call < 3; call++) {
		goCallback(thread, call);
		napMillis(2);
	}
	return 0;
}

static pthread_t threads[16];

static int startThread(int thread) {
	return pthread_create(&threads[thread], 0, run, (void *)(intptr_t)thread);
}

static int joinThread(int thread) {
	return pthread_join(threads[thread], 0);
}

// callBack calls Go from C from Go, in the caller's thread.
static void callBack(int thread) {
	goCallback(thread, 0);
}
*/
import "C"

import (
	"context"
	"log"
	"os"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

// fromGo as the thread's number marks callbacks that Go itself asked for.
const fromGo = -1

//export goCallback
func goCallback(thread, call C.int) {
	ctx := context.Background()
	defer trace.StartRegion(ctx, "callback").End()
	trace.Log(ctx, "thread", strconv.Itoa(int(thread)))
	switch call {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(time.Millisecond)
	case 2:
		done := make(chan struct{})
		go close(done)
		<-done
	}
}

// start runs a new C thread, which makes three calls of goCallback.
func start(thread int) {
	if rc := C.startThread(C.int(thread)); rc != 0 {
		log.Fatalf("pthread_create: error %d", rc)
	}
}

func join(thread int) {
	if rc := C.joinThread(C.int(thread)); rc != 0 {
		log.Fatalf("pthread_join: error %d", rc)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: cgocallback FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}

	// One thread is over when tracing starts, another may be at any point of its life.
	start(0)
	join(0)
	start(1)
	time.Sleep(time.Millisecond)

	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	// A thread alone, then several at a time, then one after another that can have the same resources again.
	start(2)
	join(2)
	for thread := 3; thread < 7; thread++ {
		start(thread)
	}
	for thread := 3; thread < 7; thread++ {
		join(thread)
	}
	for thread := 7; thread < 9; thread++ {
		start(thread)
		join(thread)
	}
	join(1)

	// Goroutines whose calls of C call back, so that a system call of theirs has Go code inside.
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			C.callBack(fromGo)
			C.napMillis(2)
		}()
	}
	wg.Wait()

	// A thread that lives on when tracing stops.
	start(9)
	time.Sleep(time.Millisecond)

	trace.Stop()
	join(9)
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
