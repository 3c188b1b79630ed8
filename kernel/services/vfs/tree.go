package vfs

import "sort"

// Tree calls yield for e and, where it is a directory, for all that lies below
// it and vfs keeps, by name and with what is mounted there: name is where that
// is, below e's own name. It stops when yield returns false. Names may come and
// go meanwhile.
func (ns *Namespace) Tree(e *Entry, name string, yield func(name string, i *Inode) bool) bool {
	i, children := ns.children(e)
	if !yield(name, i) {
		return false
	}
	for _, k := range children {
		if !ns.Tree(k, name+"/"+k.name, yield) {
			return false
		}
	}
	return true
}

func (ns *Namespace) children(e *Entry) (*Inode, []*Entry) {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	i := e.down().inode
	if i.dir == nil {
		return i, nil
	}
	list := make([]*Entry, 0, len(i.dir.byName))
	for _, k := range i.dir.byName {
		list = append(list, k)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].name < list[b].name })
	return i, list
}

// LinkTarget is the text of a symbolic link that vfs keeps.
func (i *Inode) LinkTarget() []byte { return i.target }
