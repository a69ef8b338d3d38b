package main

import (
	"fmt"
	"sort"
	"strings"
)

type item struct {
	name   string
	weight int
}

func total(items []item) (sum int) {
	for i, it := range items {
		sum += i * it.weight
	}
	return
}

func main() {
	counts := map[string]int{}
	for _, word := range strings.Fields("the end of the text") {
		counts[word]++
	}
	var items []item
	for name, weight := range counts {
		items = append(items, item{name, weight})
	}
	sort.Slice(items, func(a, b int) bool { return items[a].name < items[b].name })
	fmt.Println(total(items), items)
}
