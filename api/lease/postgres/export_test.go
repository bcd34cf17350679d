package postgres

// Connect opens a session with the settings that p's own have.
var Connect = (*Place).connect

// NewIn makes a Place with tables in a schema of its own.
func NewIn(schema string, o Options) (*Place, error) {
	o.schema = schema
	return New(o)
}
