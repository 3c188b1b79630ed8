package bpe

// stageObject reads an object whose "type" says what it is; f gets the other
// members. null is a stage without a type. Nesting is bounded by jsonReader.
func (p *parser) stageObject(kind *string, f func(key string) error) error {
	if p.isNull() {
		return p.skip()
	}
	err := p.object(func(key string) (err error) {
		if key == "type" {
			*kind, err = p.string()
			return err
		}
		return f(key)
	})
	if err == nil && *kind == "" {
		err = p.field("a stage needs a \"type\"")
	}
	return err
}

// need reports a member that a type cannot do without.
func (p *parser) need(seen map[string]bool, kind string, keys ...string) error {
	for _, k := range keys {
		if !seen[k] {
			return p.field("%s needs %q", kind, k)
		}
	}
	return nil
}

func (p *parser) pattern() (out Pattern, err error) {
	n := 0
	err = p.object(func(key string) (err error) {
		n++
		switch key {
		case "String":
			out.String, err = p.string()
		case "Regex":
			out.Regex, err = p.string()
		default:
			err = p.field("a pattern has a \"String\" or a \"Regex\"")
		}
		return err
	})
	if err == nil && n != 1 {
		err = p.field("a pattern has a \"String\" or a \"Regex\"")
	}
	return out, err
}

func (p *parser) normalizer() (out NormalizerConfig, err error) {
	seen := map[string]bool{}
	err = p.stageObject(&out.Type, func(key string) (err error) {
		seen[key] = true
		switch key {
		case "normalizers":
			err = p.list(func(int) error {
				n, err := p.normalizer()
				out.Normalizers = append(out.Normalizers, n)
				return err
			})
		case "pattern":
			out.Pattern, err = p.pattern()
		case "content":
			out.Content, err = p.string()
		case "prepend":
			out.Prepend, err = p.string()
		case "strip_left":
			out.StripLeft, err = p.bool()
		case "strip_right":
			out.StripRight, err = p.bool()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return out, err
	}
	switch out.Type {
	case "Sequence":
		err = p.need(seen, out.Type, "normalizers")
	case "Replace":
		err = p.need(seen, out.Type, "pattern", "content")
	case "Prepend":
		err = p.need(seen, out.Type, "prepend")
	case "Strip":
		err = p.need(seen, out.Type, "strip_left", "strip_right")
	}
	return out, err
}

func (p *parser) preTokenizer() (out PreTokenizerConfig, err error) {
	out.UseRegex = true // the value where it is absent
	seen := map[string]bool{}
	err = p.stageObject(&out.Type, func(key string) (err error) {
		seen[key] = true
		switch key {
		case "pretokenizers":
			err = p.list(func(int) error {
				q, err := p.preTokenizer()
				out.PreTokenizers = append(out.PreTokenizers, q)
				return err
			})
		case "add_prefix_space":
			out.AddPrefixSpace, err = p.boolOrNull()
		case "use_regex":
			out.UseRegex, err = p.bool()
		case "individual_digits":
			out.IndividualDigits, err = p.bool()
		case "pattern":
			out.Pattern, err = p.pattern()
		case "behavior":
			var s string
			s, err = p.string()
			out.Behavior = Behavior(s)
		case "invert":
			out.Invert, err = p.bool()
		case "replacement":
			out.Replacement, err = p.string()
		case "prepend_scheme":
			out.PrependScheme, err = p.string()
		case "split":
			out.Split, err = p.bool()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return out, err
	}
	switch out.Type {
	case "Sequence":
		err = p.need(seen, out.Type, "pretokenizers")
	case "ByteLevel":
		err = p.need(seen, out.Type, "add_prefix_space")
	case "Digits":
		err = p.need(seen, out.Type, "individual_digits")
	case "Split":
		err = p.need(seen, out.Type, "pattern", "behavior", "invert")
	case "Punctuation":
		if !seen["behavior"] {
			out.Behavior = Isolated
		}
	case "Metaspace":
		err = p.metaspace(&out.PrependScheme, out.AddPrefixSpace, seen)
		if !seen["split"] {
			out.Split = true
		}
		out.AddPrefixSpace = false
	}
	if out.Type != "ByteLevel" {
		out.UseRegex = false
	}
	return out, err
}

// metaspace settles the prepend scheme, which older files give as add_prefix_space.
func (p *parser) metaspace(scheme *string, addPrefixSpace bool, seen map[string]bool) error {
	if err := p.need(seen, "Metaspace", "replacement"); err != nil {
		return err
	}
	if !seen["prepend_scheme"] {
		*scheme = "always"
	}
	if seen["add_prefix_space"] && !addPrefixSpace {
		if seen["prepend_scheme"] && *scheme != "never" {
			return p.field("add_prefix_space is false but prepend_scheme is %q", clip(*scheme))
		}
		*scheme = "never"
	}
	return nil
}

func (p *parser) postProcessor() (out PostProcessorConfig, err error) {
	special := map[string][]int{} // TemplateProcessing: ids by name
	seen := map[string]bool{}
	var sep, cls TemplatePiece
	err = p.stageObject(&out.Type, func(key string) (err error) {
		seen[key] = true
		switch key {
		case "processors":
			err = p.list(func(int) error {
				q, err := p.postProcessor()
				out.Processors = append(out.Processors, q)
				return err
			})
		case "single":
			out.Single, err = p.template()
		case "special_tokens":
			err = p.object(func(name string) error {
				ids, err := p.specialIDs()
				special[name] = ids
				return err
			})
		case "sep":
			sep, err = p.namedID()
		case "cls":
			cls, err = p.namedID()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return out, err
	}
	switch out.Type {
	case "Sequence":
		err = p.need(seen, out.Type, "processors")
	case "RobertaProcessing", "BertProcessing":
		err = p.need(seen, out.Type, "sep", "cls")
		out.Type = "TemplateProcessing"
		out.Single = []TemplatePiece{cls, {}, sep}
	case "TemplateProcessing":
		if err = p.need(seen, out.Type, "single", "special_tokens"); err != nil {
			return out, err
		}
		for i, piece := range out.Single {
			if piece.Special == "" {
				continue
			}
			ids, ok := special[piece.Special]
			if !ok {
				return out, p.field("single[%d] is %q, which special_tokens lacks", i, clip(piece.Special))
			}
			out.Single[i].IDs = ids
		}
	}
	return out, err
}

// template reads the pieces of "single"; the ids come from special_tokens.
func (p *parser) template() (out []TemplatePiece, err error) {
	err = p.list(func(int) error {
		pieces := 0
		return p.object(func(kind string) error {
			if pieces++; pieces > 1 || kind != "Sequence" && kind != "SpecialToken" {
				return p.field("a piece is one \"Sequence\" or one \"SpecialToken\"")
			}
			id := ""
			err := p.object(func(key string) (err error) {
				if key == "id" {
					id, err = p.string()
					return err
				}
				return p.skip()
			})
			switch {
			case err != nil:
				return err
			case id == "":
				return p.field("a piece needs an \"id\"")
			case kind == "SpecialToken":
				out = append(out, TemplatePiece{Special: id})
				return nil
			case id != "A":
				return p.field("the template for one text uses sequence %q", clip(id))
			}
			out = append(out, TemplatePiece{})
			return nil
		})
	})
	return out, err
}

func (p *parser) specialIDs() (ids []int, err error) {
	err = p.object(func(key string) error {
		if key != "ids" {
			return p.skip()
		}
		return p.list(func(int) error {
			id, err := p.id()
			ids = append(ids, id)
			return err
		})
	})
	return ids, err
}

// namedID reads ["</s>", 2].
func (p *parser) namedID() (out TemplatePiece, err error) {
	n := 0
	err = p.list(func(i int) (err error) {
		n++
		switch i {
		case 0:
			out.Special, err = p.string()
		case 1:
			var id int
			id, err = p.id()
			out.IDs = []int{id}
		}
		return err
	})
	if err == nil && (n != 2 || out.Special == "") {
		err = p.field("expected a token and its id")
	}
	return out, err
}

func (p *parser) decoder() (out DecoderConfig, err error) {
	seen := map[string]bool{}
	addPrefixSpace := false
	err = p.stageObject(&out.Type, func(key string) (err error) {
		seen[key] = true
		switch key {
		case "decoders":
			err = p.list(func(int) error {
				q, err := p.decoder()
				out.Decoders = append(out.Decoders, q)
				return err
			})
		case "pattern":
			out.Pattern, err = p.pattern()
		case "content":
			out.Content, err = p.string()
		case "start":
			out.Start, err = p.id()
		case "stop":
			out.Stop, err = p.id()
		case "replacement":
			out.Replacement, err = p.string()
		case "prepend_scheme":
			out.PrependScheme, err = p.string()
		case "add_prefix_space":
			addPrefixSpace, err = p.boolOrNull()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return out, err
	}
	switch out.Type {
	case "Sequence":
		err = p.need(seen, out.Type, "decoders")
	case "Replace":
		err = p.need(seen, out.Type, "pattern", "content")
	case "Strip":
		err = p.need(seen, out.Type, "content", "start", "stop")
	case "Metaspace":
		err = p.metaspace(&out.PrependScheme, addPrefixSpace, seen)
	}
	return out, err
}
