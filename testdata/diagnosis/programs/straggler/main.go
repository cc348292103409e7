package main

import (
	"diag/gt"
	"math/rand"
	"sync"
	"time"
)

// Shard 2 has a slow disk.
func ask(shard int) {
	if shard == 2 {
		time.Sleep(20*time.Millisecond + time.Duration(rand.Intn(5_000_000)))
		return
	}
	time.Sleep(2*time.Millisecond + time.Duration(rand.Intn(500_000)))
}

func search(w *gt.Stat) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var ends []time.Time
	for shard := range 6 {
		all.Add(1)
		go func() {
			defer all.Done()
			ask(shard)
			mu.Lock()
			ends = append(ends, time.Now())
			mu.Unlock()
		}()
	}
	all.Wait()
	w.Add(ends[5].Sub(ends[4]))
}

func main() {
	gt.Start()
	var wg sync.WaitGroup
	var ws [4]gt.Stat
	end := time.Now().Add(time.Second)
	for i := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				search(&ws[i])
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	var w gt.Stat
	for i := range ws {
		w.Merge(&ws[i])
	}
	w.Print("wait for the last shard")
}
