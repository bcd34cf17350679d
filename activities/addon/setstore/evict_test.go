package setstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/fairlead/activities/addon/setstore"
)

func (f *fixture) evict(keep ...setstore.Digest) {
	f.Helper()
	if err := f.store.Evict(f.Context(), web, keep); err != nil {
		f.Fatal(err)
	}
}

// puts stores n sets of some bytes, a second apart.
func (f *fixture) puts(n, bytes int) []setstore.Digest {
	f.Helper()
	var all []setstore.Digest
	for range n {
		all = append(all, f.put(web, setstore.Plan, random(f.T, bytes)))
		f.later(time.Second)
	}
	return all
}

// left says which of sets are there, by number.
func (f *fixture) left(sets []setstore.Digest) (there []int) {
	f.Helper()
	for i, d := range sets {
		_, err := f.store.Get(f.Context(), d)
		switch {
		case err == nil:
			there = append(there, i)
		case !errors.Is(err, setstore.ErrNotFound):
			f.Errorf("set %d: %v", i, err)
		}
	}
	return there
}

func TestEvictLeavesTheNewestAndTheKept(t *testing.T) {
	const chunk = 900<<10 - 1000
	for name, test := range map[string]struct {
		sets, bytes int
		keep        []int
		want        []int
	}{
		"ten":                        {sets: 10, bytes: 100, want: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"more than ten":              {sets: 12, bytes: 100, want: []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		"the oldest is kept":         {sets: 12, bytes: 100, keep: []int{0}, want: []int{0, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		"more than 4 MiB":            {sets: 6, bytes: chunk, want: []int{2, 3, 4, 5}},
		"more than 4 MiB is kept":    {sets: 6, bytes: chunk, keep: []int{0, 1, 2, 3, 4}, want: []int{0, 1, 2, 3, 4}},
		"one that is more than that": {sets: 2, bytes: 5 << 20, keep: []int{0}, want: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newStore(t)
			others := f.put("db", setstore.Plan, []byte("of another add-on"))
			sets := f.puts(test.sets, test.bytes)
			var keep []setstore.Digest
			for _, i := range test.keep {
				keep = append(keep, sets[i])
			}
			f.later(time.Hour)
			f.evict(keep...)
			if diff := cmp.Diff(test.want, f.left(sets)); diff != "" {
				t.Errorf("other sets are left (- wanted, + there):\n%s", diff)
			}
			f.has(others, []byte("of another add-on"))
			if test.bytes < chunk && len(f.chunks()) != len(test.want)+1 {
				t.Errorf("%d Secrets are left", len(f.chunks()))
			}
		})
	}
}

func TestEvictLeavesWhatWasStoredJustNow(t *testing.T) {
	f := newStore(t)
	again := []byte("stored long ago, and again")
	d := f.put(web, setstore.Plan, again)
	old := f.puts(11, 100)
	f.later(time.Hour)
	young := f.puts(12, 100)
	f.put(web, setstore.Plan, again)
	f.evict()
	if n := len(f.left(young)); n != 12 {
		t.Errorf("of the 12 that were just stored, %d are left", n)
	}
	f.has(d, again)
	if there := f.left(old); there != nil {
		t.Errorf("of those of an hour ago, %v are left", there)
	}
}

// A set may be stored again while another process finds it too old.
func TestASetThatIsStoredWhileItIsEvictedIsThere(t *testing.T) {
	data := random(t, 2<<20)
	for nth := range 3 {
		t.Run(fmt.Sprint("before deletion ", nth), func(t *testing.T) {
			f := newStore(t)
			d := f.put(web, setstore.Render, data)
			f.puts(11, 100)
			f.later(time.Hour)
			deletions := 0
			racing := f.open(interceptor.NewClient(f.client, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if deletions == nth {
						f.put(web, setstore.Render, data)
					}
					deletions++
					return c.Delete(ctx, o, opts...)
				},
			}), f.store.Namespace)
			if err := racing.Evict(t.Context(), web, nil); err != nil {
				t.Fatal(err)
			}
			if deletions <= nth {
				t.Fatalf("only %d Secrets were deleted", deletions)
			}
			f.has(d, data)
		})
	}
}

func TestDropLeavesNothingOfAnAddOn(t *testing.T) {
	f := newStore(t)
	others := f.put("db", setstore.Render, []byte("of another add-on"))
	d := f.put(web, setstore.Render, random(t, 2<<20))
	f.put(web, setstore.Inventory, []byte("a"))
	for range 2 { // it may run again
		if err := f.store.Drop(t.Context(), web); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.store.Get(t.Context(), d); !errors.Is(err, setstore.ErrNotFound) {
		t.Errorf("a dropped set is read with %v", err)
	}
	if n := len(f.chunks()); n != 1 {
		t.Errorf("%d Secrets are left, want that of the other", n)
	}
	f.has(others, []byte("of another add-on"))
}
