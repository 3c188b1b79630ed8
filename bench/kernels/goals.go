package kernels

// A goal says how many times cheaper than the reference our kernel should make
// a workload, by wall clock and by guest instructions; 0: it has no goal there.
type goal struct {
	workload           string
	wall, instructions float64
}

// goals are against a lean mainline without rep movs and rep stos, the
// toughest fair reference: those of other references are only compared. Goals
// of memory are those of a share: 0.7 of it by the first line, 0.65 with a model. A workload without a goal is measured all the same.
var goals = []goal{
	{"getppid", 2.0, 2.2},
	{"touch-4k", 3.2, 4.5},
	{"touch-2m", 1.15, 1.8},
	{"mmap", 1.2, 1.5},
	{"futex", 4, 3},
	{"threads", 2.5, 1.6},
	{"threads-go", 2.5, 1.6},
	{"pread", 1.5, 1.5},
	{"fstat", 1.3, 1.3},
	{"pipe", 2.5, 2},
	{"boot", 3, 0},
	{"boot-ram", 1 / 0.7, 0},
	{"model-ram", 1 / 0.65, 0},
}

// reached is what a goal asks for in a clock.
func (g goal) reached(c clock) float64 {
	if c == wall {
		return g.wall
	}
	return g.instructions
}

// goalOf returns the goal of a workload, nil when it has none.
func goalOf(workload string) *goal {
	for i := range goals {
		if goals[i].workload == workload {
			return &goals[i]
		}
	}
	return nil
}
