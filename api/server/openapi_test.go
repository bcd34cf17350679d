package server_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

type document struct {
	OpenAPI    string                               `json:"openapi"`
	Paths      map[string]map[string]any            `json:"paths"`
	Components map[string]map[string]map[string]any `json:"components"`
}

func openAPI(t *testing.T, w *world) (document, string) {
	t.Helper()
	r := w.do(http.MethodGet, "/openapi.yaml", "")
	var d document
	if err := yaml.Unmarshal([]byte(r.text), &d); err != nil {
		t.Fatal(err)
	}
	return d, r.text
}

func TestOpenAPIHasEveryRoute(t *testing.T) {
	w := newWorld(t)
	d, _ := openAPI(t, w)
	var documented, served []string
	for path, item := range d.Paths {
		for method := range item {
			if method != "parameters" {
				documented = append(documented, strings.ToUpper(method)+" "+path)
			}
		}
	}
	err := chi.Walk(w.handler, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		served = append(served, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("served (-), documented (+):\n%s", diff)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("openapi: %s", d.OpenAPI)
	}
}

func TestOpenAPIReferencesExist(t *testing.T) {
	d, text := openAPI(t, newWorld(t))
	for _, part := range strings.Split(text, `$ref: "#/components/`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		kind, name, _ := strings.Cut(ref, "/")
		if _, ok := d.Components[kind][name]; !ok {
			t.Errorf("%s does not exist", ref)
		}
	}
}

// schemaOf returns the names of the fields that a schema has, those of allOf
// included.
func schemaOf(d document, schema map[string]any) []string {
	var names []string
	if ref, ok := schema["$ref"].(string); ok {
		return schemaOf(d, d.Components["schemas"][ref[strings.LastIndex(ref, "/")+1:]])
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		names = append(names, name)
	}
	all, _ := schema["allOf"].([]any)
	for _, one := range all {
		part, _ := one.(map[string]any)
		names = append(names, schemaOf(d, part)...)
	}
	return names
}

// TestOpenAPIHasEveryField looks at answers that together have all fields there are.
func TestOpenAPIHasEveryField(t *testing.T) {
	w := newWorld(t, proxy("demo", secured), proxy("other", secured, region("us")), proxy("full", region("asia"), func(p *crawl.Proxy) { p.Spec.MaxLeases = 1 }), authSecret())
	d, _ := openAPI(t, w)
	acquire := func(body string) map[string]any { return w.do(http.MethodPost, "/v1/leases", body).object(t) }
	acquire(`{"selector":{"region":"asia"}}`)
	plain := acquire(`{"target":"shop.example","selector":{"region":"eu"}}`)
	id, _ := plain["leaseID"].(string)
	renewed := w.do(http.MethodPost, "/v1/leases/"+id+"/renew", "").object(t)
	w.do(http.MethodPost, "/v1/leases/"+id+"/report", `{"result":"banned"}`)
	full := acquire(`{"selector":{"region":"asia"}}`)
	demo := w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").object(t)
	cooldowns, _ := demo["cooldowns"].([]any)
	w.pass(10 * time.Minute)
	trial := acquire(`{"target":"shop.example","selector":{"region":"eu"},"session":"s","exclusive":true}`)
	list, _ := w.do(http.MethodGet, "/v1/leases", "").field(t, "leases").([]any)
	w.edit("demo", unhealthy)
	moved := acquire(`{"session":"s"}`)
	batch := acquire(`{"count":1}`)
	for name, answers := range map[string][]any{
		"Lease":        {trial},
		"GrantedLease": {trial, moved},
		"LeaseBatch":   {batch},
		"LeasedProxy":  {plain["proxy"]},
		"ListedLease":  list,
		"Proxy":        {w.do(http.MethodGet, "/v1/proxies", "").field(t, "proxies").([]any)[0]},
		"ProxyDetails": {demo},
		"Cooldown":     cooldowns,
		"Replacement":  {w.do(http.MethodPost, "/v1/proxies/crawl/demo/replace", "").object(t)},
		"Renewed":      {renewed},
		"NoMatch":      {full},
		"Status":       {w.do(http.MethodGet, "/healthz", "").object(t)},
	} {
		answered := map[string]bool{}
		for _, a := range answers {
			fields, _ := a.(map[string]any)
			for field := range fields {
				answered[field] = true
			}
		}
		documented := schemaOf(d, d.Components["schemas"][name])
		slices.Sort(documented)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(answered)), documented); diff != "" {
			t.Errorf("%s: answered (-), documented (+):\n%s", name, diff)
		}
	}
}

func (r reply) object(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	r.into(t, &v)
	return v
}
