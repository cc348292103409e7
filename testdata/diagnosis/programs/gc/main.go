package main

import (
	"diag/gt"
	"fmt"
	"runtime"
	"sync"
	"time"
)

type node struct {
	l, r *node
	v    [4]int
}

func tree(d int) *node {
	if d == 0 {
		return nil
	}
	return &node{l: tree(d - 1), r: tree(d - 1)}
}

var live = tree(19)

func flush() { runtime.GC() }
func main() {
	gt.Start()
	var wg sync.WaitGroup
	end := time.Now().Add(time.Second)
	n := 0
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				gt.Burn(time.Millisecond)
				time.Sleep(time.Millisecond)
			}
		}()
	}
	for time.Now().Before(end) {
		flush()
		n++
		time.Sleep(20 * time.Millisecond)
	}
	wg.Wait()
	gt.Stop()
	fmt.Println("forced GCs", n, live != nil)
}
