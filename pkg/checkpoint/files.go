package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// The files of a folder that are read here, and the largest size of each: a
// file beyond that is no such file. Real ones are a hundredth of it.
const (
	configName           = "config.json"
	generationConfigName = "generation_config.json"
	tokenizerConfigName  = "tokenizer_config.json"
	chatTemplateName     = "chat_template.jinja"

	maxConfigBytes       = 4 << 20
	maxTokenizerConfig   = 64 << 20
	maxChatTemplateBytes = 4 << 20
)

// readFile reads a file of at most limit bytes. A file that is not there is
// nil and no error.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, _, err := regular(fsys, name)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("checkpoint: %s: %w: more than %d bytes", name, ErrTooLarge, limit)
	}
	return data, nil
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
