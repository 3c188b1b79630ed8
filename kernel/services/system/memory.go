package system

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
)

func memory(m calls.Machine) (info abi.MemoryInfo) {
	m.Memory(&info)
	return info
}
