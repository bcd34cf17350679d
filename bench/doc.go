// Package bench measures what Fairlead promises of its costs, on a real API server
// and a real Temporal server. Its benchmarks print lines that benchstat reads; none
// fails on a time. docs/benchmarks.md says what each line means.
package bench
