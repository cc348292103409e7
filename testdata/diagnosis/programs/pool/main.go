package main

import (
	"diag/gt"
	"sync"
	"time"
)

var conns = make(chan struct{}, 2)

func query() { time.Sleep(4 * time.Millisecond) }
func withConn(w *gt.Stat) {
	t := time.Now()
	conns <- struct{}{}
	w.Add(time.Since(t))
	query()
	<-conns
}
func main() {
	gt.Start()
	var wg sync.WaitGroup
	var ws [10]gt.Stat
	end := time.Now().Add(2 * time.Second)
	for i := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				gt.Burn(50 * time.Microsecond)
				withConn(&ws[i])
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	var w gt.Stat
	for i := range ws {
		w.Merge(&ws[i])
	}
	w.Print("wait for conn")
}
