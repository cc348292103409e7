package main

import (
	"diag/gt"
	"sync"
	"time"
)

// A call that others wait for, which want the same.
type call struct{ done sync.WaitGroup }

var (
	mu    sync.Mutex
	calls = map[int]*call{}
)

func load() { time.Sleep(8 * time.Millisecond) }

func get(key int, w *gt.Stat) {
	mu.Lock()
	if c := calls[key]; c != nil {
		mu.Unlock()
		t := time.Now()
		c.done.Wait()
		w.Add(time.Since(t))
		return
	}
	c := &call{}
	c.done.Add(1)
	calls[key] = c
	mu.Unlock()
	load()
	mu.Lock()
	delete(calls, key)
	mu.Unlock()
	c.done.Done()
}

func main() {
	gt.Start()
	var wg sync.WaitGroup
	var ws [10]gt.Stat
	end := time.Now().Add(time.Second)
	for i := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := i; time.Now().Before(end); n++ {
				gt.Burn(50 * time.Microsecond)
				get(n%2, &ws[i])
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	var w gt.Stat
	for i := range ws {
		w.Merge(&ws[i])
	}
	w.Print("wait for a call of another goroutine")
}
