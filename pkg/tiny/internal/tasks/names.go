package tasks

import (
	"strconv"
	"strings"
)

var extensions = strings.Fields(`txt txt txt txt txt txt md md json json csv csv log log dat cfg yaml yml ini html go py conf xml toml tmp out bak sh js c h rs sql tex text rst css list num val tsv`)

// a vocabulary is where a set of tasks takes its words from.
type vocabulary struct {
	words   []string
	made    float64 // the share of words that are made up
	unicode float64 // the share of words with letters beyond ASCII
	rich    bool    // with what goes wrong, and what is said in other ways
}

// a maker makes names and texts.
type maker struct {
	random
	vocabulary
}

// word returns a word in lower case.
func (m maker) word() string {
	x := m.Float64()
	switch {
	case x < m.made*0.85:
		return m.syllables()
	case x < m.made:
		return m.letters(1, 7)
	}
	return pick(m.random, m.words...)
}

// name returns the name of a file, without what follows the dot, or of a folder.
func (m maker) name() string {
	w := m.word()
	x := m.Float64()
	switch {
	case x < 0.10:
		w += pick(m.random, "_", "-", "-") + m.word()
	case x < 0.13:
		w += pick(m.random, "_", "-") + m.word() + pick(m.random, "_", "-") + m.word()
	case x < 0.23:
		w += strconv.Itoa(m.IntN(pick(m.random, 10, 10, 100, 3000)))
	case x < 0.29:
		w += pick(m.random, "_", "-", ".", "-v") + strconv.Itoa(m.IntN(pick(m.random, 10, 100, 3000)))
	case x < 0.34:
		w = title(w)
	case x < 0.37:
		w = strings.ToUpper(w)
	case x < 0.39:
		w += title(m.word())
	case x < 0.41:
		w = "20" + m.digits(2) + "-" + m.digits(2) + "-" + m.digits(2)
	case x < 0.42:
		w = strconv.Itoa(m.IntN(1000))
	case x < 0.43:
		w = "." + w
	}
	return w
}

// title begins a text with a capital letter, if that is one of ASCII.
func title(s string) string {
	if s == "" || !isLetter(s[0]) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// digits returns n digits.
func (m maker) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + m.IntN(10))
	}
	return string(b)
}

// file returns the name of a file.
func (m maker) file() string {
	if m.chance(0.02) {
		return pick(m.random, "README", "Makefile", "LICENSE", "Dockerfile", "TODO", "NOTES", "CHANGELOG")
	}
	name := m.name()
	if m.chance(0.03) {
		name += "." + pick(m.random, extensions...)
	}
	return name + "." + pick(m.random, extensions...)
}

var folders = strings.Fields(`data docs src lib notes var/log etc tmp home bin logs config test tests assets images photos music work reports archive old new projects etc/conf usr/share inbox books letters files input output public private store shared`)

// folder returns the path of a folder with n parts, without slashes around it.
func (m maker) folder(n int) string {
	parts := make([]string, n)
	for i := range parts {
		if m.chance(0.25) {
			parts[i] = pick(m.random, folders...)
		} else {
			parts[i] = strings.TrimLeft(m.name(), ".")
		}
	}
	return strings.Join(parts, "/")
}

// filePath returns the path of a file as a user writes it.
func (m maker) filePath() string {
	x := m.Float64()
	switch {
	case x < 0.36:
		return m.file()
	case x < 0.48:
		return "/" + m.file()
	case x < 0.50:
		return "./" + m.file()
	}
	p := m.folder(pick(m.random, 1, 1, 1, 1, 2, 2, 3)) + "/" + m.file()
	if m.chance(0.5) {
		p = "/" + p
	}
	return p
}

// folderPath returns the path of a folder as a user writes it.
func (m maker) folderPath() string {
	p := m.folder(pick(m.random, 1, 1, 1, 1, 2, 2, 3))
	x := m.Float64()
	switch {
	case x < 0.5:
		p = "/" + p
	case x < 0.53:
		p = "./" + p
	}
	if m.chance(0.2) {
		p += "/"
	}
	return p
}
