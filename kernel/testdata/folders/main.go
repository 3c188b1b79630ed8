// Command folders makes ten folders and a file, and says what came of it.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	for i := range 10 {
		if err := os.Mkdir("/folder"+strconv.Itoa(i), 0o755); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(os.WriteFile("/file", []byte("x"), 0o644))
}
