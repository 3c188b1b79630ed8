package main

// noReturn are calls whose success is not seen: they end the thread, the
// program or the machine.
var noReturn = map[string]bool{"exit": true, "exit_group": true, "execve": true}

// known are the errors that each call is documented to fail with, in its
// manual page, as far as this kernel can come to them.
var known = map[string]string{}
