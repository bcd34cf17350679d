package source_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/cluster"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

const key = "values.yaml"

// told is a chart that tells its values.
const told = `
apiVersion: v1
kind: ConfigMap
metadata: {name: told}
data: {values: {{ .Values | toJson | quote }}}
`

func fromSecret(name string, optional ...bool) addons.ValuesSource {
	return addons.ValuesSource{SecretRef: &addons.ValuesRef{Name: name, Key: key, Optional: len(optional) > 0}}
}

func fromConfigMap(name string, optional ...bool) addons.ValuesSource {
	return addons.ValuesSource{ConfigMapRef: &addons.ValuesRef{Name: name, Key: key, Optional: len(optional) > 0}}
}

func (w *world) valued(values string, from ...addons.ValuesSource) *addons.Addon {
	return w.shop(func(s *addons.AddonSpec) { s.Values, s.ValuesFrom = values, from })
}

func (w *world) patchSecret(name, key, text string) {
	w.t.Helper()
	var o corev1.Secret
	w.must(w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &o))
	o.StringData = map[string]string{key: text}
	w.must(w.admin.Update(w.t.Context(), &o))
}

func joined(secrets [][]byte) string { return string(bytes.Join(secrets, []byte("\n"))) }

func TestALaterValueGoesOverAnEarlierOne(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", told)
	w.configMap("first", key, "{a: first, deep: {a: first, b: first, c: first}, list: [1, 2]}")
	w.secret("second", key, "{a: second, deep: {b: second, c: second}, list: [3], big: 9007199254740993}")
	w.configMap("empty", key, "")
	a := w.valued("{deep: {c: spec}, own: true}", fromConfigMap("first"), fromSecret("none", true), fromSecret("second"), fromConfigMap("empty"))
	const want = `{"a":"second","big":9007199254740993,"deep":{"a":"first","b":"second","c":"spec"},"list":[3],"own":true}`
	r := w.rendered(a)
	if got := value(t, r, "ConfigMap trade/told", "data", "values"); got != want {
		t.Errorf("the values are %v, want %v", got, want)
	}

	before := r.Render
	w.patchSecret("second", key, "a: third")
	if r = w.rendered(a, before); r.Known != -1 || r.Content == before.Content {
		t.Error("another Secret gives the same render")
	}
}

func TestWhatIsMissingHasItsNameAndRemedy(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", told)
	w.secret("there", "other", canary)
	w.configMap("there", "other", "x")
	for name, c := range map[string]struct {
		from  func(string, ...bool) addons.ValuesSource
		in    string
		words []string
	}{
		"a Secret":             {fromSecret, "none", []string{"spec.valuesFrom[0]", "Secret " + w.Namespace + "/none", "optional: true"}},
		"a ConfigMap":          {fromConfigMap, "none", []string{"spec.valuesFrom[0]", "ConfigMap " + w.Namespace + "/none", "optional: true"}},
		"a key of a Secret":    {fromSecret, "there", []string{"Secret " + w.Namespace + "/there", "no key values.yaml", "optional: true"}},
		"a key of a ConfigMap": {fromConfigMap, "there", []string{"ConfigMap " + w.Namespace + "/there", "no key values.yaml", "optional: true"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.fails(w.valued("", c.from(c.in)), c.words...)
			w.rendered(w.valued("", c.from(c.in, true)))
		})
	}
}

func TestErrorsNeverQuoteASecret(t *testing.T) {
	for name, c := range map[string]struct {
		text, template string
		words          []string
	}{
		"a text that is no YAML":     {canary + ": [", told, []string{"/bad, key values.yaml", "correct"}},
		"a text that is no map":      {"- " + canary, told, []string{"/bad, key values.yaml", "correct"}},
		"a template that quotes it":  {"deep: [{password: " + canary + "}]", `{{ fail (first .Values.deep).password }}`, []string{"chart shop", "execution error"}},
		"one that makes no YAML":     {"password: " + canary, "a: {{ .Values.password }}: b", []string{"chart shop", "YAML"}},
		"one that takes no such key": {"password: " + canary, `{{ index .Values.password .Values.password }}`, []string{"chart shop", "index"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.charts.serve(t, "1.0.0", c.template)
			w.secret("bad", key, c.text)
			w.fails(w.valued("", fromSecret("bad")), c.words...)
		})
	}
}

func TestSecretsAreTheValuesOfSecretsOnly(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", told)
	w.secret("values", key, "deep: [{password: hunter22, pin: 1234, code: 12345678, on: true, tiny: abc, quoted: 'it''s me'}]\nsection:\n  of: x\n")
	w.configMap("values", key, "open: everybody")
	a := w.valued("own: nobody", fromSecret("values"), fromConfigMap("values"))
	want := []string{
		"1.2345678e+07", "1234", "12345678", "deep: [{password: hunter22, pin: 1234, code: 12345678, on: true, tiny: abc, quoted: 'it''s me'}]",
		"hunter22", "it's me", "of: x",
	}
	for name, secrets := range map[string]func() ([][]byte, error){
		"those of a render": func() ([][]byte, error) { return w.rendered(a).Secrets, nil },
		"those without one": func() ([][]byte, error) { return w.Secrets(t.Context(), a) },
	} {
		t.Run(name, func(t *testing.T) {
			found, err := secrets()
			w.must(err)
			got := strings.Split(joined(found), "\n")
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecretsAreAllThatIsThere(t *testing.T) {
	w := newWorld(t)
	w.secret("bad", key, "password: "+canary+"\n- no map")
	a := w.valued("", fromSecret("none"), fromSecret("bad"))
	a.Spec.Source.Helm.CredentialsSecretRef = &addons.SecretRef{Name: "none"}
	secrets, err := w.Secrets(t.Context(), a)
	if err != nil || !strings.Contains(joined(secrets), canary) {
		t.Errorf("got %q, %v", secrets, err)
	}
}

func TestWhatMayNotBeReadIsNotTakenForMissing(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", told)
	nobody, err := cluster.Open(localtest.ControlPlane(t), "nobody-at-all")
	w.must(err)
	w.Client = nobody.Client
	a := w.valued("", fromSecret("none", true))
	w.fails(a, "Secret "+w.Namespace+"/none", "forbidden")
	if _, err := w.Secrets(t.Context(), a); err == nil {
		t.Error("its secrets are unknown, and that is no error")
	}
}
