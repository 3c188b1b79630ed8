package native

// A measure is one column of what samples tell.
type measure struct {
	key, title, unit string
	scale            float64 // from the sample's unit to the table's
	less             bool    // less is better
	digits           int
}

// Keys of sample.Values. Times are in seconds, memory in bytes, rates in units
// a second.
const (
	keyLoad         = "load"          // opening the model, in a process that has all it needs
	keyFirst        = "first"         // from the start of the engine's program to the first token
	keyFirstAll     = "first_all"     // from the start of the process; the same but for Python's own start
	keyImport       = "import"        // Python: importing the engine
	keyMemory       = "memory"        // the peak, after 5+128 tokens
	keyWarmFirst    = "warm_first"    // time to the first token of a short prompt, in a running process
	keyDecode       = "decode"        // at a context of 128 to 256
	keyPrefill      = "prefill"       // of 512 tokens
	keyDeep         = "deep"          // decode at a context of 2,048 to 2,176
	keyDeepPrefill  = "deep_prefill"  // of 2,048 tokens
	keyBusy         = "busy"          // decode while another process takes one processor
	keyRead         = "read"          // ours: plain reads of the weights, same pages, same process
	keyRatio        = "ratio"         // ours: bytes that decode reads over that
	keyBytes        = "bytes"         // ours: that a token reads
	keyCode         = "code"          // ours: decode of code that is given back, without drafts
	keyCodeDraft    = "code_draft"    // and with them
	keyRewrite      = "rewrite"       // ours: decode of a text that is given back with changes, without drafts
	keyRewriteDraft = "rewrite_draft" // and with them
	keyProse        = "prose"         // ours: decode of an explanation, without drafts
	keyProseDraft   = "prose_draft"   // and with them
	keyBatchOne     = "batch_one"     // ours: decode with one session
	keyBatch        = "batch"         // ours: decode with eight, all their tokens
	keyEmulated     = "emulated"      // ours: decode under an emulator
	keyInstructions = "instructions"  // ours: executed there for a token, over the weights
	keyFMA          = "fma"           // machine: f32 operations, a fused multiply-add being two
	keyPrefillFlops = "prefill_flops" // machine: operations of a token of prefill
	keyReadHuge     = "read_huge"     // machine: plain reads, 2 MiB pages
	keyReadSmall    = "read_small"    // machine: plain reads, 4 KiB pages
)

var measures = []measure{
	{keyDecode, "Decode, context 128", "tokens/s", 1, false, 1},
	{keyDeep, "Decode, context 2,048", "tokens/s", 1, false, 1},
	{keyPrefill, "Prefill, 512 tokens", "tokens/s", 1, false, 0},
	{keyFirst, "Start to first token", "ms", 1e3, true, 1},
	{keyLoad, "Load", "ms", 1e3, true, 1},
	{keyMemory, "Peak memory", "MB", 1e-6, true, 0},
	{keyBusy, "Decode, one processor taken", "tokens/s", 1, false, 1},
	{keyBatch, "Decode, eight sessions together", "tokens/s", 1, false, 1},
	{keyCodeDraft, "Decode with drafts, code given back", "tokens/s", 1, false, 1},
	{keyRewriteDraft, "Decode with drafts, text given back", "tokens/s", 1, false, 1},
	{keyProseDraft, "Decode with drafts, nothing repeats", "tokens/s", 1, false, 1},
	{keyEmulated, "Decode under QEMU as Skylake-Client", "tokens/s", 1, false, 2},
	{keyInstructions, "Instructions a weight there, AVX2", "1", 1, true, 3},
}
