package leasecli

// CommandOf is Command with another patience.
var CommandOf = command
