package tasks

// A Kind is one of the six kinds of tasks.
type Kind int

// The kinds.
const (
	Read        Kind = iota // read a file and report its size, first line or content
	List                    // list a folder and report how many entries, or which
	Compute                 // compute an expression and report its value
	Write                   // write a given text to a file
	ReadWrite               // read a file and write its content, size or first line to another
	ReadCompute             // read a number in a file, compute with it, and report the value
	kinds
)

// Kinds is how many kinds there are.
const Kinds = int(kinds)

var kindNames = [...]string{"read", "list", "compute", "write", "read+write", "read+compute"}

// String returns the name of a kind in tables.
func (k Kind) String() string { return kindNames[k] }

// A Want says what is asked for, where a kind has several.
type Want int

// What is asked for.
const (
	Result    Want = iota // of Compute, Write and ReadCompute
	Size                  // of Read and ReadWrite: how many bytes the file has
	FirstLine             // of Read and ReadWrite: the file's first line
	Content               // of Read and ReadWrite: the whole content
	Count                 // of List: how many entries the folder has
	Names                 // of List: the names of the entries
)

// A Phrasing is a way to ask for something, with placeholders for what differs
// from task to task. They stand in braces:
//
//	Read         {file}                       Want: Size, FirstLine or Content
//	List         {dir}                        Want: Count or Names
//	Compute      {expr}                       Expr is ""
//	             or {a}, {b}, {c}             Expr says what they mean, such as "b - a"
//	Write        {text} and {file}
//	ReadWrite    {file} and {to}              Want: Content, Size or FirstLine
//	ReadCompute  {file}, and {n} if Expr has n; Expr is in x, the number in the
//	             file, and n, such as "x * n", "n - x" or "x * 2"
//
// {file} and {to} become paths of files such as notes.txt, /data/a-1.csv or
// src/main.go, without spaces and without quotes; a phrasing may put quotes
// around them. {dir} becomes the path of a folder such as notes, /var/log or
// src/lib/, never that of the root folder. {expr} becomes an expression in
// digits and operators such as 12 * (3 + 4); {a}, {b}, {c} and {n} whole
// numbers or, rarely, decimals, in digits. {text} becomes a line without quotes
// of any kind and without a full stop or another mark at its end: a phrasing may
// put "…", '…' or `…` around it, or leave it bare in the middle or at the end.
// Each placeholder that the kind requires stands in the text exactly once.
//
// The outcome that is expected, and checked by program:
//
//   - the run ends with done;
//   - Read: the answer has the size as a number of its own, or is the first line,
//     or the content (white space at the ends does not count);
//   - List: the answer has the number of entries (or is "none" or "empty" for 0),
//     or all of their names and no others;
//   - Compute, ReadCompute: the answer has the exact value as a number of its
//     own (where it has no finite decimals, its first six digits);
//   - Write: the file has exactly the text, with or without a line end;
//   - ReadWrite: the file {to} has exactly the content, the first line or, as a
//     number, with or without the word bytes, the size, with or without a line
//     end;
//   - no file that should not be written has been, and none is missing.
type Phrasing struct {
	Kind Kind
	Want Want
	Text string
	Expr string
}
