package folder_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/folder"
)

const canary = "canary-of-the-secret"

func secret(data string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\n" + data
}

// What is in the Secrets of a repository must not come out in a text that is stored.
func TestErrorsDoNotTellSecrets(t *testing.T) {
	for name, files := range map[string]repository{
		"a Secret that is no YAML": {"app/a.yaml": secret("stringData:\n  password: !!int " + canary)},
		"a Secret in base64 that is no YAML": {
			"app/a.yaml": secret("data:\n  password: !!float " + base64.StdEncoding.EncodeToString([]byte(canary))),
		},
		"a name that is the secret of another object": {
			"app/a.yaml": secret("stringData: {password: " + canary + "}\n---\napiVersion: v1\nkind: " + canary + "\nmetadata: {}\n"),
		},
		"a Secret in one line that is no YAML": {
			"app/a.yaml": secret("stringData: {other: text, password: !!int " + canary + "}"),
		},
		"a patch of Secrets that is none": {
			"app/kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {kind: Secret}\n  patch: |-\n    stringData: {a: " + canary + "}\n",
			"app/a.yaml":             secret("stringData: {password: other-text}"),
		},
		"operations on Secrets that are none": {
			"app/kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {kind: Secret}\n  patch: |-\n" +
				`    [{"op": "add", "path": "/stringData/a", "value": "` + canary + `"}, "x"]` + "\n",
			"app/a.yaml": secret("stringData: {password: other-text}"),
		},
		"a patch of a Secret that is in no resource": {
			"app/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: " + canary + "}\n    stringData: {a: " + canary + "}\n",
			"app/a.yaml":             secret(""),
		},
		"a literal of a generator": {
			"app/kustomization.yaml": "secretGenerator:\n- name: keys\n  literals: [" + canary + "]\n",
		},
		"a file of a generator": {
			"app/kustomization.yaml": "secretGenerator:\n- {name: keys, files: [key=keys.txt]}\n- {name: more, files: [" + canary + ".txt]}\n",
			"app/keys.txt":           canary,
		},
		"a file of variables of a generator": {
			"app/kustomization.yaml": "secretGenerator:\n- {name: keys, envs: [keys.env]}\n- {name: more, files: [" + canary + ".txt]}\n",
			"app/keys.env":           "# keys\npassword='" + canary + "'\n",
		},
		"a file that a generator cannot find": {
			"app/kustomization.yaml": "resources: [a.yaml]\nsecretGenerator:\n- name: keys\n  files: [" + canary + ".txt]\n",
			"app/a.yaml":             secret("stringData: {a: " + canary + "}"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := folder.Render(t.Context(), os.DirFS(files.onDisk(t)), "app")
			wantNoCanary(t, err)
		})
	}
	t.Run("what only the caller knows", func(t *testing.T) {
		files := repository{"app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: !!int " + canary + "}\n"}
		_, err := folder.Render(t.Context(), os.DirFS(files.onDisk(t)), "app", []byte(canary))
		wantNoCanary(t, err)
	})
}

// wantNoCanary wants that the error had the canary in it, and tells it no more.
func wantNoCanary(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("it is rendered")
	}
	if !strings.Contains(err.Error(), "<secret>") {
		t.Errorf("nothing is masked: %v", err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	for ; err != nil; err = errors.Unwrap(err) {
		if text := fmt.Sprintf("%+v", err); strings.Contains(text, canary) || strings.Contains(text, encoded) {
			t.Errorf("the secret is in %q", text)
		}
	}
}
