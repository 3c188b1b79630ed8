package jinja

// Statements.
type (
	dataNode struct{ text string }
	outNode  struct{ x expr }
	ifNode   struct {
		branches []branch
		orElse   []node
	}
	branch struct {
		cond expr
		body []node
	}
	forNode struct {
		target target
		iter   expr
		cond   expr // nil: none
		body   []node
		orElse []node
	}
	setNode struct {
		target target
		value  expr
	}
	setBlockNode struct {
		target  target
		filters []*filterExpr
		body    []node
	}
	withNode struct {
		targets []target
		values  []expr
		body    []node
	}
	macroNode struct{ macro *macro }
	callNode  struct {
		call   *callExpr
		caller *macro
	}
	filterNode struct {
		filters []*filterExpr
		body    []node
	}
	scopeNode    struct{ body []node } // generation
	breakNode    struct{}
	continueNode struct{}
)

// A node is one of the statements above with its line.
type node struct {
	stmt any
	line int
}

// A macro is a function of the template; caller bodies are macros too.
type macro struct {
	name     string
	params   []string
	defaults []expr // of the last params
	body     []node
	// What the body refers to besides its parameters.
	varargs, kwargs, caller bool
}

// A target is what an assignment sets: a name, an attribute of a namespace, or
// a tuple of targets.
type target struct {
	name  string
	attr  string
	tuple []target
}

// Expressions.
type (
	expr interface{}

	constExpr struct{ v Value }
	nameExpr  struct{ name string }
	listExpr  struct {
		items []expr
		tuple bool
	}
	dictExpr struct{ keys, values []expr }
	attrExpr struct {
		x    expr
		name string
	}
	itemExpr struct {
		x, key expr
	}
	sliceExpr struct {
		x                 expr
		start, stop, step expr // nil: absent
	}
	callExpr struct {
		fn   expr
		args callArgs
		line int
	}
	filterExpr struct {
		x    expr // nil in set blocks and filter blocks
		name string
		args callArgs
		line int
	}
	testExpr struct {
		x       expr
		name    string
		args    callArgs
		negated bool
		line    int
	}
	notExpr struct{ x expr }
	negExpr struct {
		x    expr
		plus bool
	}
	andExpr    struct{ a, b expr }
	orExpr     struct{ a, b expr }
	condExpr   struct{ cond, then, orElse expr } // orElse nil: undefined
	binaryExpr struct {
		op   string
		a, b expr
	}
	concatExpr  struct{ parts []expr }
	compareExpr struct {
		first expr
		ops   []comparison
	}
	comparison struct {
		op string // "in" and "not in" too
		x  expr
	}
)

type callArgs struct {
	args     []expr
	kwargs   []namedExpr
	star     expr // *args
	starStar expr // **kwargs
}

type namedExpr struct {
	name string
	x    expr
}
