package main

import (
	"diag/gt"
	"sync"
	"time"
)

type Config struct {
	mu sync.RWMutex
	m  map[string]int
}

func (c *Config) Get(w *gt.Stat) int {
	t := time.Now()
	c.mu.RLock()
	w.Add(time.Since(t))
	defer c.mu.RUnlock()
	gt.Burn(20 * time.Microsecond)
	return c.m["a"]
}
func (c *Config) Reload(h *gt.Stat) {
	c.mu.Lock()
	t := time.Now()
	defer c.mu.Unlock()
	time.Sleep(15 * time.Millisecond)
	c.m = map[string]int{"a": 1}
	h.Add(time.Since(t))
}
func main() {
	c := &Config{m: map[string]int{}}
	gt.Start()
	var wg sync.WaitGroup
	var ws [6]gt.Stat
	var h gt.Stat
	end := time.Now().Add(2 * time.Second)
	for i := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				c.Get(&ws[i])
				time.Sleep(time.Millisecond)
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for time.Now().Before(end) {
			c.Reload(&h)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	wg.Wait()
	gt.Stop()
	var w gt.Stat
	for i := range ws {
		w.Merge(&ws[i])
	}
	w.Print("wait for RLock")
	h.Print("writer held")
}
