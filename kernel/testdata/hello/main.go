// Command hello is the smallest program that the kernel is tested with.
package main

import "fmt"

func main() { fmt.Println("hello") }
