//go:build !go1.23

package main

// startCoroutine does nothing, as there are no coroutines before Go 1.23.
func startCoroutine() (resume func()) {
	return func() {}
}
