package tasks

// Heldout are the phrasings that the published score is measured with. They are
// written without a look at those of training (phrases_*.go), and nothing is
// tuned on them. At least ten a kind, spread over what is wanted.
var Heldout = []Phrasing{}

// HeldoutWords are words for the names and texts of the held-out set: lower-case
// letters only, at least a hundred.
var HeldoutWords = []string{}
