package main

import (
	"diag/gt"
	"sync"
	"time"
)

// Each goroutine starts two of the same function and waits for them, as a parallel sort does.
func walk(depth int, wg *sync.WaitGroup) {
	defer wg.Done()
	if depth == 0 {
		time.Sleep(2 * time.Millisecond)
		gt.Burn(50 * time.Microsecond)
		return
	}
	var children sync.WaitGroup
	children.Add(2)
	go walk(depth-1, &children)
	go walk(depth-1, &children)
	children.Wait()
}

func main() {
	gt.Start()
	end := time.Now().Add(500 * time.Millisecond)
	for time.Now().Before(end) {
		var wg sync.WaitGroup
		wg.Add(1)
		go walk(4, &wg)
		wg.Wait()
		time.Sleep(3 * time.Millisecond)
	}
	gt.Stop()
}
