// An HTTP server and its clients, threads that sleep, a child, ten hours of a ticker: what Go does without a C library.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

func get(group *sync.WaitGroup) {
	defer group.Done()
	response, err := http.Get("http://127.0.0.1:8080/")
	if err != nil {
		fmt.Println(err)
		return
	}
	response.Body.Close()
}

func nap(group *sync.WaitGroup) {
	defer group.Done()
	runtime.LockOSThread()
	time.Sleep(10 * time.Second)
}

func main() {
	var group sync.WaitGroup
	start := time.Now()

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
	go http.ListenAndServe("127.0.0.1:8080", nil)
	time.Sleep(time.Second)
	for i := 0; i < 50; i++ {
		group.Add(1)
		go get(&group)
	}
	group.Wait()
	fmt.Println("answers", time.Since(start).Round(time.Second))
	for i := 0; i < 100; i++ {
		group.Add(1)
		go nap(&group)
	}
	group.Wait()
	runtime.GC()
	fmt.Println("threads", time.Since(start).Round(time.Second))
	command := exec.Command("sleep", "100")
	command.Stdout = os.Stdout
	fmt.Println("child", command.Run(), time.Since(start).Round(time.Second))
	ticker := time.NewTicker(time.Hour)
	for i := 0; i < 10; i++ {
		<-ticker.C
	}
	fmt.Println("ticks", time.Since(start).Round(time.Minute))
}
