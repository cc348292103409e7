package main

import (
	"diag/gt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"
)

// The program is its own server, in another process.
const address = "127.0.0.1:18080"

func serve() {
	http.HandleFunc("/price", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * time.Millisecond)
		io.WriteString(w, "12")
	})
	http.ListenAndServe(address, nil)
}

func price() {
	r, err := http.Get("http://" + address + "/price")
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

func order(s *gt.Stat) {
	t := time.Now()
	price()
	s.Add(time.Since(t))
	gt.Burn(500 * time.Microsecond)
}

func main() {
	if os.Args[1] == "serve" {
		serve()
	}
	server := exec.Command(os.Args[0], "serve")
	server.Start()
	time.Sleep(500 * time.Millisecond)
	gt.Start()
	var wg sync.WaitGroup
	var ss [2]gt.Stat
	end := time.Now().Add(time.Second)
	for i := range ss {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				order(&ss[i])
			}
		}()
	}
	wg.Wait()
	gt.Stop()
	server.Process.Kill()
	server.Wait()
	var s gt.Stat
	for i := range ss {
		s.Merge(&ss[i])
	}
	s.Print("request")
}
