// Strings, slices, interfaces, closures and multiple results: values in several registers and on the stack.
package main

import "os"

type shape interface{ area() float64 }
type square struct{ side float64 }
type pair struct {
	name  string
	items []int
}

func (s square) area() float64 { return s.side * s.side }

//go:noinline
func total(shapes []shape) (sum float64, count int) {
	for _, s := range shapes {
		sum += s.area()
		count++
	}
	return
}

//go:noinline
func apply(p pair, f func(int) int) (string, int) {
	last := 0
	for i, item := range p.items {
		last = f(item) + i
	}
	return p.name + "!", last
}

func main() {
	by := len(os.Args)
	sum, count := total([]shape{square{2}, square{float64(by)}})
	text, last := apply(pair{"items", []int{1, 2, 3}}, func(x int) int { return x * by })
	table := map[string]int{text: last}
	println(text, last, int(sum), count, len(table))
}
