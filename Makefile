# Short names for the scripts; they need no make.
.PHONY: run test quick long dist generate
run test dist:
	./$@
quick long:
	./test $@
generate:
	go generate ./...
