package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/agent"
)

const readSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"the file, from the root folder"},` +
	`"offset":{"type":"integer","minimum":0,"maximum":9007199254740991,"description":"the byte to begin at; 0 if left out"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"the most bytes to read"}},` +
	`"required":["path"],"additionalProperties":false}`

// readFile returns the tool read_file.
func readFile(root *os.Root, maxRead int) agent.Tool {
	return agent.NewTool("read_file", "Read a text file. The first line of the result says how many bytes the file has and, if not all are shown, the offset to go on from.", fmt.Sprintf(readSchema, maxRead),
		func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			args := struct {
				Path          string
				Offset, Limit integer
			}{Limit: integer(min(maxRead, 1<<14))}
			if err := decode(raw, &args); err != nil {
				return agent.Result{}, err
			}
			name, err := local(args.Path)
			if err != nil {
				return agent.Result{}, err
			}
			f, info, err := openKind(root, name, "file", fs.FileMode.IsRegular)
			if err != nil {
				return agent.Result{}, err
			}
			defer f.Close()
			return readPart(f, info.Size(), int64(args.Offset), max(1, min(int(args.Limit), maxRead)))
		})
}

// readPart reads up to limit bytes of a file of the given size from offset on.
// Where that is inside a character it begins with the whole character.
func readPart(f io.ReaderAt, size, offset int64, limit int) (agent.Result, error) {
	back := min(offset, utf8.UTFMax-1)
	data := make([]byte, int(back)+limit+utf8.UTFMax)
	n, err := f.ReadAt(data, offset-back)
	if err != nil && !errors.Is(err, io.EOF) {
		return agent.Result{}, plain(err, "file")
	}
	data = data[:n]
	size = max(size, offset-back+int64(n)) // special file systems state 0
	if offset > size {
		return agent.Result{}, &told{fmt.Sprintf("offset %d is beyond the end: the file has %d bytes", offset, size), fs.ErrInvalid}
	}
	start := runeStart(data, min(int(back), n))
	offset += int64(start) - back
	data = data[start:]
	text := string(data[:runeCut(data, limit)])
	return agent.Result{Text: text, Head: func(shown int) string { return partHead(size, offset, text[:min(shown, len(text))]) }}, nil
}

// partHead says which part of size bytes is shown.
func partHead(size, offset int64, shown string) string {
	head := fmt.Sprintf("%d bytes", size)
	if size == 1 {
		head = "1 byte"
	}
	if offset > 0 {
		head += fmt.Sprintf(", from offset %d", offset)
	}
	if end := offset + int64(len(shown)); end < size {
		head += fmt.Sprintf(", truncated, next offset %d", end)
	}
	if !utf8.ValidString(shown) {
		head += ", not all of it UTF-8"
	}
	return head
}

// runeStart returns where the character begins that byte i is in, or i where
// it is in none.
func runeStart(data []byte, i int) int {
	for j := i; j >= 0 && j > i-utf8.UTFMax && j < len(data); j-- {
		if utf8.RuneStart(data[j]) {
			if _, size := utf8.DecodeRune(data[j:]); j+size > i {
				return j
			}
			break
		}
	}
	return i
}

// runeCut returns how many of the first limit bytes to take so as not to cut a
// character. A character that alone is longer is taken whole.
func runeCut(data []byte, limit int) int {
	if len(data) <= limit {
		return len(data)
	}
	if n := runeStart(data, limit); n > 0 {
		return n
	}
	_, size := utf8.DecodeRune(data)
	return size
}
