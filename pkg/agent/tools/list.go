package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/agent"
)

// maxEntries bounds how much of a folder is read.
const maxEntries = 100000

const listSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"the folder, from the root folder, which is /"},` +
	`"offset":{"type":"integer","minimum":0,"maximum":9007199254740991,"description":"how many entries to leave out at the beginning; 0 if left out"}},` +
	`"required":["path"],"additionalProperties":false}`

// listDir returns the tool list_dir.
func listDir(root *os.Root) agent.Tool {
	return agent.NewTool("list_dir", "List the entries of a folder, a line each; folders end in a slash. The first line of the result says how many there are and, if not all are shown, the offset to go on from.", listSchema,
		func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args struct {
				Path   string
				Offset integer
			}
			if err := decode(raw, &args); err != nil {
				return agent.Result{}, err
			}
			name, err := local(args.Path)
			if err != nil {
				return agent.Result{}, err
			}
			f, _, err := openKind(root, name, "folder", fs.FileMode.IsDir)
			if err != nil {
				return agent.Result{}, err
			}
			defer f.Close()
			names, more, err := entries(ctx, f)
			if err != nil {
				return agent.Result{}, err
			}
			return listing(names, more, int(min(args.Offset, integer(len(names))))), nil
		})
}

// entries reads the names in a folder, sorted. more means that there are more
// than maxEntries.
func entries(ctx context.Context, f *os.File) (names []string, more bool, err error) {
	for {
		batch, err := f.ReadDir(1000)
		for _, e := range batch {
			name := e.Name()
			if needsQuotes(name) {
				name = strconv.Quote(name)
			}
			if e.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, plain(err, "folder")
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if len(names) >= maxEntries {
			more = true
			break
		}
	}
	slices.Sort(names)
	return names, more, nil
}

// needsQuotes reports whether a name would be misread in a list of lines.
func needsQuotes(name string) bool {
	return !utf8.ValidString(name) || strings.HasPrefix(name, `"`) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// listing returns the entries from the given one on.
func listing(names []string, more bool, from int) agent.Result {
	text := strings.Join(names[from:], "\n")
	return agent.Result{Text: text, Head: func(shown int) string {
		head := strconv.Itoa(len(names)) + " entries"
		if len(names) == 1 {
			head = "1 entry"
		}
		if more {
			head = "more than " + head
		}
		if from > 0 {
			head += fmt.Sprintf(", from number %d", from+1)
		}
		if shown < len(text) {
			whole := strings.Count(text[:shown], "\n")
			if text[shown] == '\n' {
				whole++
			}
			head += fmt.Sprintf(", truncated, next offset %d", from+whole)
		}
		return head
	}}
}
