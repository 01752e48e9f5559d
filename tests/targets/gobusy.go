// Goroutines at work: mainWork on the main goroutine, sideWork on another. usage: busy SECONDS
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

//go:noinline
func collatz(n uint64) int {
	steps := 0
	for n != 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		steps++
	}
	return steps
}

//go:noinline
func mainWork(end time.Time) int {
	best := 0
	for n := uint64(1); ; n++ {
		if n%1000 == 0 && time.Now().After(end) {
			return best
		}
		if steps := collatz(n); steps > best {
			best = steps
		}
	}
}

//go:noinline
func sideWork(end time.Time, done chan int) {
	done <- mainWork(end) + 1
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	done := make(chan int)
	go sideWork(end, done)
	fmt.Println(mainWork(end) + <-done)
}
