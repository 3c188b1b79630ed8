# Short names for the scripts; they need no make.
.PHONY: run test quick long dist generate tidy
run test dist:
	./$@
quick long:
	./test $@
generate:
	go generate ./...
tidy:
	go mod tidy
	for dir in examples/*/; do go -C "$$dir" mod tidy; done
