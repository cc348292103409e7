//go:build go1.23

package main

import "iter"

// startCoroutine makes a coroutine, runs it to its first value and returns a function that runs it to its end.
func startCoroutine() (resume func()) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		_ = yield(1) && yield(2)
	})
	next()
	return func() {
		next()
		next()
		stop()
	}
}
