package slab

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/kernel/core/frames/frametest"
)

type object struct {
	mark [5]uint64
	link *object
	tail byte
}

func TestPool(t *testing.T) {
	f := frametest.RAM(t, 64<<20)
	free := f.Free()
	var p Pool[object]
	p.Init(f)
	r := rand.New(rand.NewPCG(5, 6))
	live := map[*object]uint64{}
	var list []*object
	for i := range uint64(200000) {
		if n := r.IntN(1000); len(list) == 0 || n < 500+int(100*(i>>14&1)) && len(list) < 5000 {
			v := p.Get()
			if v == nil {
				t.Fatal("out of memory")
			}
			if *v != (object{}) {
				t.Fatalf("object is not zero: %v", *v)
			}
			if _, twice := live[v]; twice {
				t.Fatal("object given twice")
			}
			for j := range v.mark {
				v.mark[j] = i
			}
			v.link, v.tail = v, byte(i)
			live[v] = i
			list = append(list, v)
		} else {
			j := r.IntN(len(list))
			v := list[j]
			want := live[v]
			if v.mark != [5]uint64{want, want, want, want, want} || v.link != v || v.tail != byte(want) {
				t.Fatalf("object was overwritten: %v", *v)
			}
			delete(live, v)
			list[j] = list[len(list)-1]
			list = list[:len(list)-1]
			p.Put(v)
		}
		if p.Used() != uint64(len(list)) {
			t.Fatalf("Used is %d, want %d", p.Used(), len(list))
		}
	}
	for _, v := range list {
		p.Put(v)
	}
	if p.Slabs() != 1 || f.Free() != free-1 {
		t.Errorf("%d slabs are held, %d frames missing", p.Slabs(), free-f.Free())
	}
	frametest.Check(t, f)
}

func TestExhausted(t *testing.T) {
	f := frametest.RAM(t, 4<<20)
	var p Pool[object]
	p.Init(f)
	var list []*object
	for v := p.Get(); v != nil; v = p.Get() {
		list = append(list, v)
	}
	if f.Free() != 0 || len(list) < 1000 {
		t.Errorf("%d frames left, %d objects", f.Free(), len(list))
	}
	for _, v := range list {
		p.Put(v)
	}
	frametest.Check(t, f)
}

func TestMisuse(t *testing.T) {
	f := frametest.RAM(t, 4<<20)
	var p, q Pool[object]
	p.Init(f)
	q.Init(f)
	var none Pool[object]
	var huge Pool[[4096]byte]
	for i, do := range []func(){
		func() { q.Put(p.Get()) },
		func() { none.Get() },
		func() { huge.Init(f) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("misuse %d went unnoticed", i)
				}
			}()
			do()
		}()
	}
}

func ExamplePool() {
	// In core the frames come from the machine's memory; without any, Get
	// answers nil and the caller gets ENOMEM.
	f := frametest.RAM(new(testing.T), 4<<20)
	var p Pool[object]
	p.Init(f)
	v := p.Get()
	v.tail = 1
	p.Put(v)
	fmt.Println(p.Used(), p.Slabs())
	// Output: 0 1
}
