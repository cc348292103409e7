// Syscalls writes an execution trace of system calls: short ones, ones that lose their P because they block, and ones
// that are still under way when tracing starts or stops.
//
//	syscalls FILE
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

// pipe is a pipe that the runtime's poller does not know, so that reading blocks a thread.
type pipe [2]int

func newPipe() (p pipe) {
	if err := syscall.Pipe(p[:]); err != nil {
		log.Fatal(err)
	}
	return p
}

func (p pipe) read() {
	var buf [1]byte
	if _, err := syscall.Read(p[0], buf[:]); err != nil {
		log.Fatal(err)
	}
}

func (p pipe) write() {
	if _, err := syscall.Write(p[1], []byte{1}); err != nil {
		log.Fatal(err)
	}
}

func (p pipe) close() {
	syscall.Close(p[0])
	syscall.Close(p[1])
}

// nap sleeps in a system call, unlike time.Sleep.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	syscall.Nanosleep(&ts, nil)
}

// spin keeps its thread busy without ever calling the scheduler.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// short makes system calls that are over before anyone could miss the P.
func short() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer null.Close()
	for range 10 {
		null.Write([]byte("nothing"))
	}
	os.Getwd()
	os.Stat(os.DevNull)
	os.ReadFile("/does/not/exist")
}

// pingPong has two goroutines wait for each other in reads.
func pingPong(rounds int) {
	there, back := newPipe(), newPipe()
	defer there.close()
	defer back.close()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range rounds {
			there.read()
			back.write()
		}
	}()
	for range rounds {
		there.write()
		back.read()
	}
	wg.Wait()
}

// stolen has more goroutines in system calls than there are Ps, and others that need these Ps.
func stolen(procs int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for range 3 {
				nap(time.Duration(1+i) * time.Millisecond)
			}
		}()
		go func() {
			defer wg.Done()
			for range 3 {
				spin(500 * time.Microsecond)
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
}

// stopped stops the world while a goroutine is in a system call, which costs that its P.
func stopped() {
	p := newPipe()
	defer p.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 4 {
			p.read()
		}
	}()
	var stats runtime.MemStats
	for range 4 {
		nap(10 * time.Microsecond)
		runtime.ReadMemStats(&stats)
		p.write()
	}
	<-done
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: syscalls FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	early, late := newPipe(), newPipe()
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			early.read()
		}()
	}
	nap(time.Millisecond)

	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	short()
	pingPong(5)
	stolen(1)
	stolen(3)
	stopped()
	early.write()
	early.write()
	wg.Wait()

	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			late.read()
		}()
	}
	time.Sleep(time.Millisecond)

	trace.Stop()
	late.write()
	late.write()
	wg.Wait()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
