// Goroutines at work: mainWork on the main goroutine, sideWork on another. With "where", collatz(0) prints its stack:
// a function, its file and its line per caller. SECONDS is CPU time of each. usage: busy SECONDS [where]
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func where() int {
	pcs := make([]uintptr, 10)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		fmt.Println(frame.Function, frame.File, frame.Line)
	}
	return 0
}

//go:noinline
func collatz(n uint64) int {
	if n == 0 {
		return where()
	}
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

// Returns the CPU time of the process.
func used() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

//go:noinline
func mainWork(first uint64, end time.Duration) int {
	best := 0
	for n := first; ; n++ {
		if n%1000 == 0 && used() > end {
			return best
		}
		if steps := collatz(n); steps > best {
			best = steps
		}
	}
}

//go:noinline
func sideWork(end time.Duration, done chan int) {
	done <- mainWork(1, end) + 1
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	first := uint64(1)
	if len(os.Args) > 2 {
		first = 0
	}
	end := time.Duration(2 * seconds * float64(time.Second))
	done := make(chan int)
	go sideWork(end, done)
	fmt.Println(mainWork(first, end) + <-done)
}
