// A Go program that mostly collects garbage: samples on the runtime's system stacks, whose callers are on goroutines'.
// usage: gogc SECONDS
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

type node struct {
	left, right *node
	values      [4]int
}

func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: build(depth - 1), right: build(depth - 1)}
}

func count(tree *node) int {
	if tree == nil {
		return 0
	}
	return 1 + count(tree.left) + count(tree.right)
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	debug.SetGCPercent(20)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	nodes := 0
	for time.Now().Before(end) {
		nodes += count(build(14))
	}
	fmt.Println(nodes)
}
