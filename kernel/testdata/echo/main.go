// Command echo says what lines it reads, up to one that is "end".
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Printf("got %q\n", lines.Text())
		if lines.Text() == "end" {
			return
		}
	}
}
