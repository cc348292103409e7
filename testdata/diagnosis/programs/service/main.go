package main

import (
	"diag/gt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

var sessions struct {
	sync.Mutex
	m map[string]int
}
var held, waited [2]gt.Stat
var mu sync.Mutex

func touch(k string, save bool) {
	t := time.Now()
	sessions.Lock()
	t1 := time.Now()
	sessions.m[k]++
	if save {
		saveSessions()
	}
	d := time.Since(t1)
	sessions.Unlock()
	mu.Lock()
	i := 0
	if save {
		i = 1
	}
	held[i].Add(d)
	waited[i].Add(t1.Sub(t))
	mu.Unlock()
}
func saveSessions() { time.Sleep(20 * time.Millisecond) }

func page(w http.ResponseWriter, r *http.Request) { touch(r.URL.Path, false); io.WriteString(w, "ok") }
func save(w http.ResponseWriter, r *http.Request) {
	touch(r.URL.Path, true)
	io.WriteString(w, "saved")
}

func main() {
	sessions.m = map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("/page", page)
	mux.HandleFunc("/save", save)
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(l, mux)
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 16
	gt.Start()
	var wg sync.WaitGroup
	for i := 0; i < 7; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			u := "http://" + l.Addr().String() + "/page"
			if i == 0 {
				u = "http://" + l.Addr().String() + "/save"
			}
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
				r, err := http.Get(u)
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if i == 0 {
					time.Sleep(30 * time.Millisecond)
				} else {
					time.Sleep(4 * time.Millisecond)
				}
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	waited[0].Print("page waited for lock")
	held[0].Print("page held")
	waited[1].Print("save waited")
	held[1].Print("save held")
}
