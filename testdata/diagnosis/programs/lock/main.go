package main

import (
	"diag/gt"
	"fmt"
	"sync"
	"time"
)

type Cache struct {
	mu sync.Mutex
	m  map[int]int
}

func (c *Cache) Get(k int, w, h *gt.Stat) int {
	t := time.Now()
	c.mu.Lock()
	t1 := time.Now()
	w.Add(t1.Sub(t))
	defer c.mu.Unlock()
	v := c.load(k)
	h.Add(time.Since(t1))
	return v
}
func (c *Cache) load(k int) int {
	if v, ok := c.m[k]; ok && k%10 != 0 {
		return v
	}
	time.Sleep(2 * time.Millisecond) // the backend
	c.m[k] = k
	return k
}

var cache = &Cache{m: map[int]int{}}

func handle(k int, w, h *gt.Stat) {
	gt.Burn(100 * time.Microsecond)
	cache.Get(k, w, h)
	time.Sleep(500 * time.Microsecond)
}

func worker(id int, w, h *gt.Stat, n *int) {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		handle(id*1000+*n, w, h)
		*n++
	}
}
func main() {
	gt.Start()
	var wg sync.WaitGroup
	var ws, hs [8]gt.Stat
	var n [8]int
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func() { defer wg.Done(); worker(i, &ws[i], &hs[i], &n[i]) }()
	}
	wg.Wait()
	gt.Stop()
	var w, h gt.Stat
	t := 0
	for i := range ws {
		w.Merge(&ws[i])
		h.Merge(&hs[i])
		t += n[i]
	}
	w.Print("wait for Lock")
	h.Print("held")
	fmt.Println("requests", t)
}
