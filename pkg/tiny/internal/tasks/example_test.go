package tasks_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/leveret-os/leveret/pkg/tiny"
	"github.com/leveret-os/leveret/pkg/tiny/internal/tasks"
)

// The teacher does a task of the training set with the agent's own tools, and
// what it saw and said is a text to train on.
func ExampleNewTeacher() {
	model, err := tiny.Open(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	teacher, err := tasks.NewTeacher(model)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bench, err := tasks.NewBench(dir, teacher)
	if err != nil {
		log.Fatal(err)
	}
	defer bench.Close()
	task := tasks.Training(1).Task(0)
	teacher.Next(task)
	outcome, err := bench.Run(context.Background(), task)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Reason, outcome.Wrong)
	// Output: done <nil>
}

// Sets other than that of training ask for the six kinds in turn.
func ExampleDevelopment() {
	set := tasks.Development(1)
	for i := range 6 {
		fmt.Println(set.Task(i).Kind)
	}
	// Output:
	// read
	// list
	// compute
	// write
	// read+write
	// read+compute
}

// The held-out set has words of its own.
func ExampleHeldOut() {
	fmt.Println(tasks.HeldOut(1).Task(0).Kind)
	// Output: read
}
