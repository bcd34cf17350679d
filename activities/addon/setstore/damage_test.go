package setstore_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/fairlead/activities/addon/setstore"
)

// replace has another Secret be where s was.
func (f *fixture) replace(s corev1.Secret, edit func(s *corev1.Secret)) {
	f.Helper()
	if err := f.client.Delete(f.Context(), &s); err != nil {
		f.Fatal(err)
	}
	edit(&s)
	s.ResourceVersion, s.UID = "", ""
	if err := f.client.Create(f.Context(), &s); err != nil {
		f.Fatal(err)
	}
}

func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for zeros, n := make([]byte, 1<<20), 0; n <= setstore.MaxBytes; n += len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDamageIsToldAndMended(t *testing.T) {
	large, small := random(t, 2<<20), []byte("kind: ConfigMap\n")
	flip := func(s *corev1.Secret) { s.Data["set.gz"][len(s.Data["set.gz"])/2] ^= 1 }
	for name, test := range map[string]struct {
		data []byte
		// chunk that becomes another.
		chunk int
		edit  func(s *corev1.Secret)
		says  string
	}{
		"the only chunk is altered":  {data: small, edit: flip, says: "-0 was altered"},
		"the first chunk is altered": {data: large, edit: flip, says: "-0 to 2 was altered"},
		"the last chunk is altered":  {data: large, chunk: 2, edit: flip, says: "-0 to 2 was altered"},
		"a chunk is empty":           {data: large, chunk: 1, edit: func(s *corev1.Secret) { s.Data = nil }, says: "-0 to 2 was altered"},
		"it counts no chunks":        {data: large, edit: label("chunks", "0"), says: "sets.rendimiento.ai/chunks"},
		"it counts fewer chunks":     {data: large, edit: label("chunks", "2"), says: "-0 to 1 was altered"},
		"it counts more chunks":      {data: large, edit: label("chunks", "4"), says: "-3 is missing"},
		"it counts endless chunks":   {data: large, edit: label("chunks", "999999999"), says: "sets.rendimiento.ai/chunks"},
		"it is given to another":     {data: small, edit: label("addon", "db"), says: "-0 was altered"},
		"it is called another kind":  {data: small, edit: label("kind", "plan"), says: "-0 was altered"},
		"another set is in it":       {data: small, edit: func(s *corev1.Secret) { s.Data["set.gz"] = packed(t, "kind: Secret\n") }, says: "-0 was altered"},
		"it expands to any size":     {data: small, edit: func(s *corev1.Secret) { s.Data["set.gz"] = bomb(t) }, says: "it expands to more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newStore(t)
			d := f.put(web, setstore.Render, test.data)
			f.replace(f.chunks()[test.chunk], test.edit)
			f.damaged(d, test.says)
			if again := f.put(web, setstore.Render, test.data); again != d {
				t.Errorf("it is %s, and then %s", d, again)
			}
			f.has(d, test.data)
		})
	}
}

func label(name, value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Labels["sets.rendimiento.ai/"+name] = value }
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// damaged fails the test unless d is, with an error that says what and what to do.
func (f *fixture) damaged(d setstore.Digest, says string) {
	f.Helper()
	_, err := f.store.Get(f.Context(), d)
	if !errors.Is(err, setstore.ErrDamaged) {
		f.Fatalf("it is read with %v", err)
	}
	for _, want := range []string{says, f.store.Namespace, "kubectl delete secret -n " + f.store.Namespace + " -l sets.rendimiento.ai/digest=" + string(d), "sync the add-on again"} {
		if !strings.Contains(err.Error(), want) {
			f.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
}

func TestAMissingChunkIsNamed(t *testing.T) {
	f := newStore(t)
	data := random(t, 2<<20)
	d := f.put(web, setstore.Render, data)
	middle := f.chunks()[1]
	if err := f.client.Delete(t.Context(), &middle); err != nil {
		t.Fatal(err)
	}
	f.damaged(d, "Secret "+f.store.Namespace+"/"+middle.Name+" is missing")
	f.put(web, setstore.Render, data)
	f.has(d, data)
}

func TestWhatWasNeverStoredIsNotFound(t *testing.T) {
	f := newStore(t)
	other := newStore(t).put(web, setstore.Render, nil)
	for _, d := range []setstore.Digest{"", "x", "../../secrets/other", other, other + "0", setstore.Digest(strings.Repeat("z", 52))} {
		if _, err := f.store.Get(t.Context(), d); !errors.Is(err, setstore.ErrNotFound) {
			t.Errorf("%q is read with %v", d, err)
		}
	}
}

func TestAPutThatIsKilledLeavesNoSet(t *testing.T) {
	errKilled := errors.New("killed")
	data := random(t, 2<<20)
	for written := range 3 {
		f := newStore(t)
		left := written
		dying := f.open(interceptor.NewClient(f.client, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if left == 0 {
					return errKilled
				}
				left--
				return c.Create(ctx, o, opts...)
			},
		}), f.store.Namespace)
		if _, err := dying.Put(t.Context(), web, setstore.Render, data); !errors.Is(err, errKilled) {
			t.Fatalf("after %d chunks: %v", written, err)
		}
		garbage := len(f.chunks())
		if garbage != written {
			t.Fatalf("there are %d Secrets, want %d", garbage, written)
		}
		// Another may still run.
		f.evict()
		if n := len(f.chunks()); n != garbage {
			t.Errorf("of %d Secrets that were just written, %d are left", garbage, n)
		}
		f.later(time.Hour)
		f.evict()
		if n := len(f.chunks()); n != 0 {
			t.Errorf("of %d Secrets of no set, %d are left", garbage, n)
		}
	}
}

func TestAPutGoesOnWhereOneWasKilled(t *testing.T) {
	f := newStore(t)
	data := random(t, 2<<20)
	d := f.put(web, setstore.Render, data)
	first := f.chunks()[0]
	if err := f.client.Delete(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Get(t.Context(), d); !errors.Is(err, setstore.ErrNotFound) {
		t.Errorf("a set without its first chunk is read with %v", err)
	}
	before := f.chunks()
	f.put(web, setstore.Render, data)
	f.has(d, data)
	if after := f.chunks(); after[1].UID != before[0].UID || after[2].UID != before[1].UID {
		t.Error("the chunks that were there are written again")
	}
}
