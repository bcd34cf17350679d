package plan_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
)

// The canaries: no byte of a plan, and no text of an error, may have one of them.
const (
	liveCanary   = "canary-of-the-live-secret"
	newCanary    = "canary-of-the-new-secret"
	valuesCanary = "canary of the \"values\""
	shortCanary  = "c4n"
	goneCanary   = "canary-of-the-gone-secret"
)

func wantNoCanary(t *testing.T, where, text string) {
	t.Helper()
	for _, canary := range []string{liveCanary, newCanary, valuesCanary, shortCanary, goneCanary} {
		quoted := fmt.Sprintf("%q", canary)
		for _, form := range []string{canary, quoted[1 : len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(canary))} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s has %q: …%s…", where, form, text[max(0, at-200):min(len(text), at+200)])
			}
		}
	}
}

func withSecrets(text string) string {
	return strings.NewReplacer("LIVE", liveCanary, "NEW", newCanary, "SHORT", shortCanary, "GONE", goneCanary,
		"VALUES", strings.ReplaceAll(valuesCanary, `"`, `\"`)).Replace(text)
}

const (
	secretText = `
apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: NS, annotations: {note: "made of LIVE"}}
stringData: {password: LIVE, pin: SHORT, file: "user: x\npassword: LIVE\n"}
`
	configText = `
apiVersion: v1
kind: ConfigMap
metadata: {name: leaky, namespace: NS}
data: {url: "https://u:LIVE@host", values: "VALUES", more: "a\nLIVE\nb", dropped: "LIVE and GONE"}
`
)

func TestNoSecretInPlans(t *testing.T) {
	c := newCluster(t)
	goneSecret := strings.NewReplacer("NAME", "gone", "LIVE", "GONE").Replace(secretText)
	old := c.rendered(withSecrets(strings.Replace(secretText, "NAME", "kept", 1)), withSecrets(configText), withSecrets(goneSecret))
	c.apply(old)
	kept, gone := old.Set.Objects[0], old.Set.Objects[2]
	// What kubectl apply leaves behind.
	annotation, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"password":"` + base64.StdEncoding.EncodeToString([]byte(liveCanary)) + `"}}`,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c.patch(kept.Unstructured, string(annotation))

	text := func(s string) string {
		return withSecrets(strings.NewReplacer(`, dropped: "LIVE and GONE"`, "", "LIVE", "NEW").Replace(s))
	}
	r := c.rendered(text(strings.Replace(secretText, "NAME", "kept", 1)), text(configText),
		text(strings.Replace(secretText, "NAME", "added", 1)), text(strings.Replace(configText, "leaky", "fresh", 1)))
	r.Prune = true
	r.Previous = []plan.Owned{{ID: gone.ID(), UID: c.uid(gone.Unstructured)}}
	r.Secrets = [][]byte{[]byte(valuesCanary)}
	r.Set.Hooks = []manifest.Hook{{Object: r.Set.Objects[2], Events: []manifest.Event{manifest.PreInstall}}}
	p := c.must(r)
	if want := (plan.Counts{Create: 2, Update: 2, Prune: 1}); p.Counts != want {
		t.Fatalf("counts are %+v, want %+v", p.Counts, want)
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	wantNoCanary(t, "the plan", string(encoded))
	if i := itemOf(t, p, "leaky"); !strings.Contains(i.Diff, "-  dropped: <secret> and <secret>") {
		t.Errorf("the diff does not tell what goes:\n%s", i.Diff)
	}
	if i := itemOf(t, p, "kept"); !strings.Contains(i.Diff, "-  password: <changed, old>") || !strings.Contains(i.Diff, "+  password: <changed, new>") || !strings.Contains(i.Diff, "pin: <unchanged>") {
		t.Errorf("the diff does not tell what changed:\n%s", i.Diff)
	}
}

func TestNoSecretInErrors(t *testing.T) {
	c := newCluster(t)
	secret := withSecrets(strings.Replace(secretText, "NAME", "kept", 1))
	r := c.rendered(secret,
		// The API server quotes the value of what it refuses.
		withSecrets(strings.Replace(deployment, "image: web:1", `image: web:1, imagePullPolicy: "LIVE SHORT VALUES"`, 1)),
		withSecrets("apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: NS}\nspec: {type: LIVE, ports: [{port: 80}]}\n"),
		strings.Replace(secret, "stringData:", "immutable: "+liveCanary+"\nstringData:", 1),
	)
	r.Set.Objects[3].SetName("wrong")
	r.Secrets = [][]byte{[]byte(valuesCanary)}
	_, err := c.Plan(t.Context(), r)
	wantErrors(t, err, map[string]string{"web": mask.Masked, "front": mask.Masked, "wrong": "immutable"})
	for err := range unwrapped(err) {
		wantNoCanary(t, fmt.Sprintf("a %T", err), fmt.Sprintf("%v %+v %#v", err, err, err))
	}
}

// unwrapped are err and all that it wraps.
func unwrapped(err error) func(func(error) bool) {
	return func(yield func(error) bool) {
		if err == nil || !yield(err) {
			return
		}
		switch wrapped := err.(type) { //nolint:errorlint // the chain itself is looked at
		case interface{ Unwrap() error }:
			unwrapped(wrapped.Unwrap())(yield)
		case interface{ Unwrap() []error }:
			for _, one := range wrapped.Unwrap() {
				unwrapped(one)(yield)
			}
		}
	}
}
