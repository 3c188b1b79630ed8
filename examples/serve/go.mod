module example.com/serve

go 1.26.0

toolchain go1.26.8

require github.com/leveret-os/leveret v0.0.0

replace github.com/leveret-os/leveret => ../..
