package main

import (
	"diag/gt"
	"fmt"
	"sync"
	"time"
)

func process(n int) {
	for i := 0; i < n; i++ {
		gt.Burn(time.Millisecond)
	}
}
func main() {
	gt.Start()
	for round := 0; round < 4; round++ {
		var wg sync.WaitGroup
		for i := 0; i < 4; i++ {
			wg.Add(1)
			n := 20
			if i == 2 {
				n = 250
			}
			go func() { defer wg.Done(); process(n) }()
		}
		wg.Wait()
	}
	gt.Stop()
	fmt.Println("work 20 20 250 20 ms, 4 rounds")
}
