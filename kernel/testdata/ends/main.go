// Command ends ends in the way that its argument says: a number is its exit
// status, panic ends it by Go's panic, kill by SIGKILL, and never is not an end.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

func main() {
	switch how := os.Args[1]; how {
	case "panic":
		panic("as told")
	case "kill":
		fmt.Println(syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	case "never":
		time.Sleep(time.Hour)
	default:
		n, err := strconv.Atoi(how)
		if err != nil {
			panic(err)
		}
		fmt.Println("EXIT status=99") // this is not the kernel's
		os.Exit(n)
	}
}
