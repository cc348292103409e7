package main

import (
	"diag/gt"
	"math/rand"
	"sync"
	"time"
)

type record struct {
	value int
	saved chan error
}

var records = make(chan record)

// Saves what has come every 20 ms, so that one commit is for many records.
func batcher() {
	tick := time.NewTicker(20 * time.Millisecond)
	var batch []record
	for {
		select {
		case r := <-records:
			batch = append(batch, r)
		case <-tick.C:
			commit(batch)
			batch = nil
		}
	}
}

func commit(batch []record) {
	sum := 0
	for _, r := range batch {
		sum += r.value
	}
	for _, r := range batch {
		r.saved <- nil
	}
}

func save(value int, w *gt.Stat) {
	r := record{value, make(chan error, 1)}
	records <- r
	begin := time.Now()
	<-r.saved
	w.Add(time.Since(begin))
}

func main() {
	gt.Start()
	go batcher()
	var wg sync.WaitGroup
	var ws [8]gt.Stat
	end := time.Now().Add(time.Second)
	for i := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				save(rand.Int(), &ws[i])
				time.Sleep(time.Duration(rand.Intn(3_000_000)))
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	var w gt.Stat
	for i := range ws {
		w.Merge(&ws[i])
	}
	w.Print("wait until a record is saved")
}
