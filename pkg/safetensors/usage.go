package safetensors

// Usage is what an opened checkpoint takes of the process's memory, in bytes,
// as the system counts it.
type Usage struct {
	// Resident is what is in memory now, of Mapped files as of copies.
	Resident int64
	// Anonymous is the part of Resident that belongs to the process alone.
	Anonymous int64
	// HugePages is the part of Resident in huge pages.
	HugePages int64
	// Locked is what is pinned.
	Locked int64
}
