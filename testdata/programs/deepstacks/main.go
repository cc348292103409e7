// Deepstacks writes an execution trace of events with stacks of all depths up to the 128 frames that the runtime
// keeps and beyond, and of functions with all kinds of names: methods, closures, generics, other alphabets.
//
//	deepstacks FILE
package main

import (
	"context"
	"log"
	"os"
	"reflect"
	"runtime"
	"runtime/trace"
	"sort"
	"sync"
)

// here logs where it is called from.
func here(message string) {
	trace.Log(context.Background(), "here", message)
}

// recurse calls f below depth frames of its own.
//
//go:noinline
func recurse(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	recurse(depth-1, f)
}

// even and odd call each other, from several lines each.
//
//go:noinline
func even(depth int, f func()) {
	switch {
	case depth == 0:
		f()
	case depth%4 == 0:
		odd(depth-1, f)
	default:
		odd(depth-1, f)
	}
}

//go:noinline
func odd(depth int, f func()) {
	if depth%3 == 0 {
		even(depth-1, f)
	} else {
		even(depth-1, f)
	}
}

// inlined1 to inlined3 are small enough to be inlined: frames of one program counter.
func inlined1(f func()) { inlined2(f) }
func inlined2(f func()) { inlined3(f) }
func inlined3(f func()) { f() }

type visitor interface{ visit(message string) }

type value struct{ n int }

//go:noinline
func (v value) visit(message string) { here(message) }

type pointer struct{ value }

//go:noinline
func (p *pointer) visitDeep(message string) { recurse(p.n, func() { p.visit(message) }) }

// Größe has a name that is not ASCII, and so have its methods.
type Größe[Т any] struct{ wert Т }

//go:noinline
func (g *Größe[Т]) Прочитать(f func(Т)) { f(g.wert) }

type pair[K comparable, V any] struct {
	key K
	val V
}

//go:noinline
func (p pair[K, V]) each(f func(K, V)) {
	func() {
		func() { f(p.key, p.val) }()
	}()
}

//go:noinline
func apply[S ~[]E, E any](s S, f func(E)) {
	for _, e := range s {
		f(e)
	}
}

type byLog []int

func (b byLog) Len() int           { return len(b) }
func (b byLog) Less(i, j int) bool { return b[i] < b[j] }
func (b byLog) Swap(i, j int)      { here("swap"); b[i], b[j] = b[j], b[i] }

func names() {
	inlined1(func() { here("inlined") })
	var v visitor = value{1}
	v.visit("interface")
	v = &pointer{value{2}} // by a wrapper that the compiler makes
	v.visit("promoted method")
	(&pointer{value{3}}).visitDeep("pointer method")
	bound := value{4}.visit
	bound("method value")
	value.visit(value{5}, "method expression")
	(&Größe[string]{"日本"}).Прочитать(here)
	(&Größe[map[string]value]{}).Прочитать(func(map[string]value) { here("generic of a map") })
	pair[string, *Größe[int]]{}.each(func(string, *Größe[int]) { here("generic of a generic") })
	apply([]pair[int, struct{ x, y int }]{{}}, func(pair[int, struct{ x, y int }]) { here("generic function") })
	reflect.ValueOf(here).Call([]reflect.Value{reflect.ValueOf("reflection")})
	sort.Sort(byLog{2, 1})
	func() {
		defer here("deferred")
	}()
	func() {
		defer func() {
			recover()
			here("recovered")
		}()
		var m map[string]int
		m["nil map"]++
	}()
	var once sync.Once
	once.Do(func() { here("once") })
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: deepstacks FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	names()
	var wg sync.WaitGroup
	for _, depth := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 120, 123, 124, 125, 126, 127, 128, 129, 144, 1000} {
		wg.Add(1)
		recurse(depth, func() { here("recursion") })
		// The stack of a goroutine is its own: the depth at which it was made does not count.
		go recurse(depth, func() {
			defer wg.Done()
			runtime.Gosched()
		})
	}
	for _, depth := range []int{10, 200} {
		even(depth, func() { trace.WithRegion(context.Background(), "mutual recursion", func() {}) })
	}
	wg.Wait()

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
