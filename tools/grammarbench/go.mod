module github.com/leveret-os/leveret/tools/grammarbench

go 1.26.0

toolchain go1.26.8

require github.com/leveret-os/leveret v0.0.0

require (
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/leveret-os/leveret => ../..
