package main

import (
	"diag/gt"
	"time"
)

func stage(in <-chan int, out chan<- int, work func(), r, w, s *gt.Stat) {
	for {
		t := time.Now()
		v, ok := <-in
		t1 := time.Now()
		r.Add(t1.Sub(t))
		if !ok {
			break
		}
		work()
		t2 := time.Now()
		w.Add(t2.Sub(t1))
		out <- v
		s.Add(time.Since(t2))
	}
	close(out)
}
func source(out chan<- int, s *gt.Stat) {
	for i := 0; i < 500; i++ {
		gt.Burn(100 * time.Microsecond)
		t := time.Now()
		out <- i
		s.Add(time.Since(t))
	}
	close(out)
}

var rd, wk, sd [4]gt.Stat

func decode(in, out chan int) {
	stage(in, out, func() { gt.Burn(200 * time.Microsecond) }, &rd[0], &wk[0], &sd[0])
}
func enrich(in, out chan int) {
	stage(in, out, func() { time.Sleep(3 * time.Millisecond) }, &rd[1], &wk[1], &sd[1])
}
func compress(in, out chan int) {
	stage(in, out, func() { gt.Burn(300 * time.Microsecond) }, &rd[2], &wk[2], &sd[2])
}

func main() {
	gt.Start()
	a, b, c, d := make(chan int), make(chan int), make(chan int), make(chan int)
	var src, sink gt.Stat
	go source(a, &src)
	go decode(a, b)
	go enrich(b, c)
	go compress(c, d)
	for {
		t := time.Now()
		if _, ok := <-d; !ok {
			break
		}
		sink.Add(time.Since(t))
	}
	gt.Stop()
	src.Print("source send")
	for i, n := range []string{"decode", "enrich", "compress"} {
		rd[i].Print(n + " recv")
		wk[i].Print(n + " work")
		sd[i].Print(n + " send")
	}
	sink.Print("sink recv")
}
