package main

import (
	"context"
	"diag/gt"
	"fmt"
	"time"
)

func query(n int, res chan int) {
	time.Sleep(time.Duration(n%4) * 3 * time.Millisecond)
	res <- n
}

func fetch(ctx context.Context, n int) error {
	res := make(chan int, 1)
	go query(n, res)
	select {
	case <-res:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func main() {
	gt.Start()
	lost := 0
	for i, end := 0, time.Now().Add(2*time.Second); time.Now().Before(end); i++ {
		ctx, cancel := context.WithTimeout(context.Background(), 7*time.Millisecond)
		if fetch(ctx, i) != nil {
			lost++
		}
		cancel()
	}
	gt.Stop()
	fmt.Println("timeouts", lost)
}
