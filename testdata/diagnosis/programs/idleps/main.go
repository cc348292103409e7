package main

import (
	"diag/gt"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// For a machine with two processors.
func resize() { gt.Burn(3 * time.Millisecond) }

func main() {
	runtime.GOMAXPROCS(8)
	gt.Start()
	n := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
		var wg sync.WaitGroup
		for i := 0; i < 8; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				resize()
			}()
		}
		wg.Wait()
	}
	gt.Stop()
	fmt.Println("batches", n)
}
