// Two goroutines add to a number in a file, and no mutex is there for it: one of the additions is lost.
// Mended: a sync.Mutex.
package main

import (
	"os"
	"runtime"
	"strconv"
	"sync"
)

const (
	path  = "/tmp/number"
	times = 5
)

var mutex sync.Mutex

func add() {
	if os.Getenv("MENDED") != "" {
		mutex.Lock()
		defer mutex.Unlock()
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		os.Exit(2)
	}
	text := make([]byte, 16)
	length, _ := file.ReadAt(text, 0)
	number, _ := strconv.Atoi(string(text[:length]))
	file.WriteAt([]byte(strconv.Itoa(number+1)), 0)
	file.Close()
}

func main() {
	runtime.GOMAXPROCS(2)
	var all sync.WaitGroup
	os.WriteFile(path, []byte("0"), 0o600)
	for goroutine := 0; goroutine < 2; goroutine++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := 0; n < times; n++ {
				add()
			}
		}()
	}
	all.Wait()
	text, _ := os.ReadFile(path)
	if string(text) != strconv.Itoa(2*times) {
		os.Exit(1)
	}
}
