// Package chaos runs many lives of Proxies at once, on a real API server, a real
// Temporal server and real processes, through faults and blows, and watches all
// along that nothing leaks. All that is drawn comes from one seed. It knows the
// product from outside, and the product does not know it.
package chaos
