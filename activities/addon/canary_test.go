package addon_test

import (
	"encoding/json"
	"strings"
	"testing"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"

	"example.com/fairlead/activities/addon/setstore"
)

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: NS}
stringData: {password: ` + canary + `}
`

func TestSecretsAreNowhereButInTheRender(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, secret, configMap("a", "blue-"+canary))
	p := w.preview()
	stored, err := w.Store.Plan(t.Context(), setstore.Digest(p.Plan))
	w.must(err)
	w.quiet(stored)
	w.synced()
	w.source.all = []string{configMap("a", "red-"+canary)}
	w.source.secrets = [][]byte{[]byte(canary)}
	p = w.preview()
	w.patch(configMap("a", ""), `{"data":{"color":"`+canary+`"}}`)
	if done := w.apply(p, wire.PartAll); done.Moved == "" {
		t.Errorf("applied %+v", done)
	}
}

func TestSecretsAreNotInFailures(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, secret, strings.Replace(configMap("a", "blue"), "color:", `"not `+canary+`":`, 1))
	_, err := w.Preview(t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: w.object().Generation})
	if err == nil || !strings.Contains(err.Error(), "<secret>") {
		t.Fatalf("an invalid object: %v", err)
	}
	w.quiet(err.Error())
	// It is invalid only once it is written: the dry run cannot be made before there is a namespace.
	home := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS-new}\n"
	w.source.all = []string{home, strings.ReplaceAll(secret, "NS", "NS-new"), strings.ReplaceAll(w.source.all[1], "NS", "NS-new")}
	p := w.preview()
	done := w.apply(p, wire.PartAll)
	text, err := json.Marshal(done)
	w.must(err)
	if !strings.Contains(done.Failed, "<secret>") || done.Inventory != "" {
		t.Errorf("applied %s", text)
	}
}
