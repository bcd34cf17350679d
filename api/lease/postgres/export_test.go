package postgres

// Connect opens a session with the settings that p's own have.
var Connect = (*Place).connect
