// A Go program whose output is always the same: goroutines on all CPUs, timers, pipes, a child process and signals that it
// handles. The Go runtime preempts goroutines with a signal (SIGURG). It prints a sum, the child's output and how many
// signals came.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func sum(n int) int {
	x := 1
	for i := 0; i < n; i++ {
		x = (x*31 + i) % 1000003
	}
	return x
}

func main() {
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGUSR1)
	reader, writer := io.Pipe()
	var group sync.WaitGroup
	results := make([]int, 8)
	for i := range results {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 10; j++ {
				results[i] += sum(1000000 + i)
				time.Sleep(time.Millisecond)
			}
		}(i)
	}
	go func() {
		io.WriteString(writer, strings.Repeat("x", 1<<20))
		writer.Close()
	}()
	piped, _ := io.ReadAll(reader)
	got := 0
	for i := 0; i < 20; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-signals
		got++
	}
	child, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
	group.Wait()
	total := 0
	for _, result := range results {
		total += result
	}
	fmt.Println(total, len(piped), got, strings.TrimSpace(string(child)), err)
}
