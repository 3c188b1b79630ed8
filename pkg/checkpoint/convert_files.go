package checkpoint

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// writeFiles writes everything but the weights.
func (v *conversion) writeFiles(out *output) error {
	config, err := v.config()
	if err != nil {
		return err
	}
	if config != nil {
		if err := out.put(configName, config); err != nil {
			return err
		}
	}
	return v.c.source.writeCompanions(out)
}

// config returns config.json with the new type of the weights.
func (v *conversion) config() ([]byte, error) {
	data := v.c.source.config()
	dtype := map[Type]string{F32: "float32", F16: "float16", BF16: "bfloat16"}[v.opts.Type]
	if data == nil || dtype == "" {
		return data, nil
	}
	o, err := parseObject(data)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w: %w", configName, ErrMetadata, err)
	}
	key := "torch_dtype"
	if _, ok := o.get("dtype"); ok { // its name since transformers 4.56
		key = "dtype"
	}
	o.set(key, dtype)
	return indentedJSON(o)
}

// maxCompanion bounds a file that is copied as it is.
const maxCompanion = 512 << 20

// writeCompanions copies the files that the folder has.
func (s *folderSource) writeCompanions(out *output) error {
	for _, name := range checkpointFiles {
		if name == indexName || name == configName {
			continue
		}
		if err := copyFile(out, s.fsys, name); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file where there is one.
func copyFile(out *output, fsys fs.FS, name string) error {
	f, size, err := regular(fsys, name)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	if size > maxCompanion {
		return fmt.Errorf("checkpoint: %s: %w: %d bytes, the limit is %d", name, ErrTooLarge, size, maxCompanion)
	}
	return out.create(name, func(w io.Writer) error {
		_, err := io.Copy(w, io.LimitReader(f, maxCompanion))
		return err
	})
}

// writeCompanions writes what the metadata says in Hugging Face's files.
func (s *ggufSource) writeCompanions(out *output) error {
	d, err := s.tokens.definition()
	if err != nil {
		return err
	}
	if _, err := bpe.New(*d); err != nil {
		return fmt.Errorf("checkpoint: tokenizer of %s: %w", s.name, err)
	}
	tokenizer, err := tokenizerJSON(d)
	if err != nil {
		return err
	}
	vocab, err := vocabularyJSON(d.Vocab)
	if err != nil {
		return err
	}
	vocabJSON, err := compactJSON(vocab)
	if err != nil {
		return fmt.Errorf("checkpoint: %s: %w", vocabName, err)
	}
	specials, err := indentedJSON(s.tokens.specialTokens(d))
	if err != nil {
		return fmt.Errorf("checkpoint: %s: %w", specialTokensName, err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{generationConfigName, s.generationConfig()},
		{tokenizerName, tokenizer},
		{vocabName, vocabJSON},
		{mergesName, mergesTXT(d)},
		{tokenizerConfigName, s.tokenizerConfig()},
		{specialTokensName, specials},
	} {
		if err := out.put(f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}
