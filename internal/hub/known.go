package hub

// DefaultCheckpoint is what an empty name means: SmolLM2-135M-Instruct at the
// commit that its digests below belong to.
var DefaultCheckpoint = Ref{
	Name:     "HuggingFaceTB/SmolLM2-135M-Instruct",
	Revision: "12fd25f77366fa6b3b4b768ec3050bf629380bac",
}

// File is a file of a checkpoint with what it must be.
type File struct {
	Name   string
	Size   int64
	SHA256 string // 64 hex digits; "" where only GitSHA1 is known
	// GitSHA1 is the hash of the file as a Git blob, 40 hex digits, which is
	// what the hub's listing gives for small files; "" where SHA256 is known.
	GitSHA1 string
}

// known holds the files, sizes and digests of checkpoints at a commit. Pulling
// one of these asks the hub for nothing but the files.
//
// The digests of SmolLM2-135M-Instruct are public: several projects that pin
// this commit publish the same values independently of each other, and
// merges.txt is, byte for byte, what the tokenizer in the GGUF of the same
// model unpacks to. A wrong entry could only make a pull fail.
var known = map[Ref][]File{
	DefaultCheckpoint: {
		{Name: "config.json", Size: 861, SHA256: "8eb740e8bbe4cff95ea7b4588d17a2432deb16e8075bc5828ff7ba9be94d982a"},
		{Name: "generation_config.json", Size: 132, SHA256: "87b916edaaab66b3899b9d0dd0752727dff6666686da0504d89ae0a6e055a013"},
		{Name: "merges.txt", Size: 466391, SHA256: "0b54e8aa4e53d5383e2e4bc635a56b43f9647f7b13832d5d9ecd8f82dac4f510"},
		{Name: "special_tokens_map.json", Size: 655, SHA256: "2b7379f3ae813529281a5c602bc5a11c1d4e0a99107aaa597fe936c1e813ca52"},
		{Name: "tokenizer.json", Size: 2104556, SHA256: "9ca9acddb6525a194ec8ac7a87f24fbba7232a9a15ffa1af0c1224fcd888e47c"},
		{Name: "tokenizer_config.json", Size: 3764, SHA256: "4ec77d44f62efeb38d7e044a1db318f6a939438425312dfa333b8382dbad98df"},
		{Name: "vocab.json", Size: 800662, SHA256: "82b84012e3add4d01d12ba14442026e49b8cbbaead1f79ecf3d919784f82dc79"},
		{Name: "model.safetensors", Size: 269060552, SHA256: "5af571cbf074e6d21a03528d2330792e532ca608f24ac70a143f6b369968ab8c"},
	},
}

// Known returns the table's files of a checkpoint. A Ref without a revision
// means the commit that the table has of that name.
func Known(r Ref) (Ref, []File, bool) {
	for k, files := range known {
		if k.Name == r.Name && (r.Revision == "" || r.Revision == k.Revision) {
			return k, append([]File(nil), files...), true
		}
	}
	return Ref{}, nil, false
}
