package grammar

// A kind says what a thread reads.
type kind uint8

const (
	kindStart      kind = iota // a value of node a
	kindLiteral                // literal a, from its byte b on
	kindNumber                 // a number of node a, in state b, with c bytes read
	kindFree                   // a free string of node a, in sub b, with c characters read
	kindTotal                  // a string of node a by its total automaton, in state b, sub c, with d decoded
	kindSpelled                // a string of node a by its spelled automaton, in state b, with c characters read
	kindFirstKey               // what follows the brace of object context a
	kindNextKey                // what follows a property of object context a
	kindKey                    // the quote of a key of object context a
	kindDeclared               // a declared key of object context a, in state b
	kindKeyTotal               // any key of object context a, in state b, sub c, with d decoded
	kindKeySpelled             // any key of object context a, in state b of its spelled automaton
	kindColon                  // the colon after the key of tag b of object context a
	kindFirstItem              // what follows the bracket of array a
	kindNextItem               // what follows element c-1 of array a
	kindEnd                    // nothing
)

// A thread is one way to read the text so far: what comes next, and the frame
// of what surrounds it. Threads are values; equal ones are the same state.
type thread struct {
	kind kind
	// space is how many blanks may come first; -1: a space must.
	space      int8
	a, b, c, d int32
	frame      int32
}

var literals = [...]string{"null", "true", "false"}

// A frame is what surrounds a value: where reading goes on after it. Frames are
// immutable and found by number; equal frames have one number.
type frame struct {
	kind frameKind
	// a is the object context in which the value is a property of tag c, or the
	// array in which it is element c.
	a, c   int32
	parent int32 // of the array; an object context has its own
}

type frameKind uint8

const (
	frameTop frameKind = iota
	frameObject
	frameArray
)

// frameInfo is what follows from a frame.
type frameInfo struct {
	depth int // arrays and objects that are open
	rest  int // bytes of a short way to the end, after the value
}

// An objectContext is an object of which some properties came.
type objectContext struct {
	shape  *objectShape
	frame  int32  // of the object
	next   int    // declared properties before this one are past; unused in any order
	count  int    // properties that came, as far as it matters
	tool   int32  // which tool was named; -1: none
	came   string // in any order: bit set of the declared properties that came
	number int32

	// What follows from it.
	depth     int      // arrays and objects that are open, this one included
	allowed   []uint64 // tags that may come
	any       bool     // one may
	anyFree   bool     // an undeclared one may
	closable  bool
	mode      keyMode
	rest      int     // bytes of a short way to the end from after a property
	freeCount []int32 // by state of spelled; nil: never asked for
}

// A keyMode says by which automaton keys are read.
type keyMode uint8

const (
	keysDeclared keyMode = iota
	keysTotal
	keysSpelled
)

// contextKey identifies an objectContext.
type contextKey struct {
	shape, frame, tool int32
	next, count        int
	came               string
}

func hasTag(bits []uint64, tag int) bool { return bits[tag/64]>>(tag%64)&1 != 0 }

func meets(a, b []uint64) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
