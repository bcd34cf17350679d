package setstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

const web = "web"

// fixture is a store in a namespace of its own.
type fixture struct {
	*testing.T

	client client.WithWatch
	store  *setstore.Store
	clock  *clocktesting.FakePassiveClock
}

func newStore(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, client: localtest.Client(t, localtest.ControlPlane(t)), clock: clocktesting.NewFakePassiveClock(time.Now())}
	f.store = f.open(f.client, localtest.Namespace(t, f.client, "sets"))
	return f
}

func (f *fixture) open(c client.Client, namespace string) *setstore.Store {
	f.Helper()
	s, err := setstore.Open(f.Context(), setstore.Options{Client: c, Namespace: namespace, Clock: f.clock, Random: rand.Reader})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fixture) put(addon string, kind setstore.Kind, data []byte) setstore.Digest {
	f.Helper()
	d, err := f.store.Put(f.Context(), addon, kind, data)
	if err != nil {
		f.Fatal(err)
	}
	return d
}

func (f *fixture) later(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

// has fails the test unless d is the set data.
func (f *fixture) has(d setstore.Digest, data []byte) {
	f.Helper()
	got, err := f.store.Get(f.Context(), d)
	if err != nil || !bytes.Equal(got, data) {
		f.Errorf("the set of %d bytes is read as %d bytes, %v", len(data), len(got), err)
	}
}

// chunks are the Secrets of sets, in the order of their names.
func (f *fixture) chunks() []corev1.Secret {
	f.Helper()
	var secrets corev1.SecretList
	if err := f.client.List(f.Context(), &secrets, client.InNamespace(f.store.Namespace)); err != nil {
		f.Fatal(err)
	}
	return slices.DeleteFunc(secrets.Items, func(s corev1.Secret) bool { return s.Name == setstore.KeySecret })
}

// random is what no gzip makes smaller.
func random(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestASetIsReadAsItWasStored(t *testing.T) {
	for name, test := range map[string]struct {
		data   []byte
		chunks int
	}{
		"nothing":         {data: nil, chunks: 1},
		"a text":          {data: []byte("kind: ConfigMap\n"), chunks: 1},
		"20 MiB of YAML":  {data: bytes.Repeat([]byte("kind: ConfigMap\n"), 20<<16), chunks: 1},
		"5 MiB at random": {data: random(t, 5<<20), chunks: 6},
		"nearly a chunk":  {data: random(t, 900<<10-1000), chunks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newStore(t)
			d := f.put(web, setstore.Render, test.data)
			f.has(d, test.data)
			chunks := f.chunks()
			if len(chunks) != test.chunks {
				t.Errorf("it is in %d Secrets, want %d", len(chunks), test.chunks)
			}
			for _, chunk := range chunks {
				if n := len(chunk.Data["set.gz"]); n > 900<<10 || chunk.Immutable == nil || !*chunk.Immutable {
					t.Errorf("Secret %s has %d bytes; immutable: %v", chunk.Name, n, chunk.Immutable)
				}
			}
			// Another process finds it.
			f.store = f.open(f.client, f.store.Namespace)
			f.has(d, test.data)
		})
	}
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	f := newStore(t)
	for name, data := range map[string][]byte{"plain": make([]byte, setstore.MaxBytes+1), "gzipped": random(t, 30<<20)} {
		if _, err := f.store.Put(t.Context(), web, setstore.Render, data); !errors.Is(err, setstore.ErrTooLarge) || !strings.Contains(err.Error(), "add-on web") {
			t.Errorf("too large %s gave %v", name, err)
		}
	}
	if n := len(f.chunks()); n != 0 {
		t.Errorf("%d Secrets were written", n)
	}
}

func TestTheSameSetIsStoredOnce(t *testing.T) {
	f := newStore(t)
	data := random(t, 2<<20)
	first := f.put(web, setstore.Render, data)
	names := func() (names []string) {
		for _, s := range f.chunks() {
			names = append(names, s.Name+" "+string(s.UID))
		}
		return names
	}
	before := names()
	if again := f.put(web, setstore.Render, data); again != first {
		t.Errorf("it is %s, and then %s", first, again)
	}
	if diff := cmp.Diff(before, names()); diff != "" {
		t.Errorf("it was stored again (- before, + after):\n%s", diff)
	}
	for what, other := range map[string]setstore.Digest{
		"another add-on's": f.put("db", setstore.Render, data), "another kind's": f.put(web, setstore.Plan, data),
	} {
		if other == first {
			t.Errorf("%s is taken for the same", what)
		}
		f.has(other, data)
	}
}

func TestProcessesThatStartTogetherHaveOneKey(t *testing.T) {
	f := newStore(t)
	namespace := localtest.Namespace(t, f.client, "key")
	hashes := make([]string, 8)
	var all sync.WaitGroup
	for i := range hashes {
		all.Go(func() {
			s, err := setstore.Open(t.Context(), setstore.Options{Client: f.client, Namespace: namespace, Clock: f.clock, Random: rand.Reader})
			if err != nil {
				t.Error(err)
				return
			}
			hashes[i] = s.Hash([]byte("a"))
		})
	}
	all.Wait()
	if same := slices.Compact(slices.Clone(hashes)); len(same) != 1 || same[0] == "" {
		t.Errorf("they hash as %q", same)
	}
}

func TestPutsAtOnce(t *testing.T) {
	f := newStore(t)
	data := random(t, 2<<20)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for _, each := range [][]byte{data, {byte(i)}} {
				if _, err := f.store.Put(t.Context(), web, setstore.Render, each); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	f.has(f.put(web, setstore.Render, data), data)
	if n := len(f.chunks()); n != 3+6 {
		t.Errorf("there are %d Secrets, want 3 and 6", n)
	}
}

func TestASpoiltKeyIsTold(t *testing.T) {
	f := newStore(t)
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.store.Namespace, Name: setstore.KeySecret}}
	if err := f.client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	key.Data = map[string][]byte{"key": []byte("canary")}
	if err := f.client.Create(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	_, err := setstore.Open(context.WithoutCancel(t.Context()), f.store.Options)
	if err == nil || !strings.Contains(err.Error(), f.store.Namespace+"/"+setstore.KeySecret) || strings.Contains(err.Error(), "canary") {
		t.Errorf("a key of six bytes gives %v", err)
	}
}

func TestWhatIsSecretIsInTheDataOnly(t *testing.T) {
	f := newStore(t)
	const canary = "canary-7f3a9b"
	d := f.put(web, setstore.Plan, []byte(canary))
	hash := f.store.Hash([]byte(canary))
	for _, s := range f.chunks() {
		s.Data, s.ManagedFields = nil, nil
		if text := s.String(); strings.Contains(text, "canary") {
			t.Errorf("the Secret's metadata tells it: %s", text)
		}
	}
	plain := sha256.Sum256([]byte(canary))
	for what, text := range map[string]string{"digest": string(d), "hash": hash} {
		if text == hex.EncodeToString(plain[:]) || strings.EqualFold(text, base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(plain[:])) {
			t.Errorf("whoever guesses the value can check it by its %s", what)
		}
	}
	if hash == string(d) || hash != f.store.Hash([]byte(canary)) || hash == f.store.Hash([]byte("other")) {
		t.Errorf("the hash is %s, and the digest %s", hash, d)
	}
	other := newStore(t)
	if hash == other.store.Hash([]byte(canary)) || d == other.put(web, setstore.Plan, []byte(canary)) {
		t.Error("another installation has the same key")
	}
}
