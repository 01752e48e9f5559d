// A goroutine with a thread of its own waits for a channel for 400 ms, so its thread parks in the runtime.
package main

import (
	"runtime"
	"time"
)

func main() {
	values := make(chan int)
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		<-values
		done <- true
	}()
	time.Sleep(400 * time.Millisecond)
	values <- 1
	<-done
}
