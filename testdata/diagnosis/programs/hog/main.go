package main

import (
	"bytes"
	"diag/gt"
	"runtime"
	"sync"
	"time"
)

var big = make([]byte, 256<<20)

func checksum() int      { return bytes.IndexByte(big, 1) }
func request(d *gt.Stat) { t := time.Now(); gt.Burn(300 * time.Microsecond); d.Add(time.Since(t)) }
func main() {
	runtime.GOMAXPROCS(2)
	for i := 0; i < len(big); i += 4096 {
		big[i] = 2
	}
	gt.Start()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for k := 0; k < 2; k++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					checksum()
					time.Sleep(10 * time.Millisecond)
				}
			}
		}()
	}
	var s gt.Stat
	var rq sync.WaitGroup
	for i := 0; i < 200; i++ {
		time.Sleep(5 * time.Millisecond)
		t := time.Now()
		rq.Add(1)
		go func() { defer rq.Done(); d := time.Since(t); s.Add(d); var x gt.Stat; request(&x) }()
	}
	rq.Wait()
	close(stop)
	wg.Wait()
	gt.Stop()
	s.Print("delay from go to run")
}
