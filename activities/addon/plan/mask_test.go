package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/mask"
)

func TestMaskObjects(t *testing.T) {
	type object = map[string]any
	secret := func(data object) object { return object{"kind": "Secret", "data": data} }
	tests := map[string]struct {
		secretKind            bool
		live, planned         object
		wantLive, wantPlanned object
		secrets               []string
	}{
		"a Secret's values": {
			secretKind:  true,
			live:        secret(object{"a": "b2xk", "b": "c2FtZQ==", "c": "Z29uZQ=="}),
			planned:     secret(object{"a": "bmV3", "b": "c2FtZQ==", "d": "bW9yZQ=="}),
			wantLive:    secret(object{"a": "<changed, old>", "b": "<unchanged>", "c": "<removed>"}),
			wantPlanned: secret(object{"a": "<changed, new>", "b": "<unchanged>", "d": "<added>"}),
		},
		"a new Secret with stringData": {
			secretKind: true,
			planned:    object{"kind": "Secret", "stringData": object{"a": "new"}},
			// What is not there has no object, and no data.
			wantPlanned: secret(object{"a": "<added>"}),
		},
		"a Secret whose data is a text": {
			secretKind: true, planned: object{"data": "canary"}, wantPlanned: object{"data": "<secret>"},
		},
		"a Secret whose stringData is a text": {
			secretKind: true, planned: object{"stringData": "canary"}, wantPlanned: object{"stringData": "<secret>"},
		},
		"a value that is a known secret": {
			secrets: []string{"canary-canary"}, live: object{"a": "old-canary"}, planned: object{"a": "canary-canary"},
			wantLive: object{"a": "<secret> (old)"}, wantPlanned: object{"a": "<secret> (new)"},
		},
		"a value in a list whose elements have names": {
			secrets:     []string{"canary-canary"},
			live:        object{"env": []any{object{"name": "x", "value": "y"}, object{"name": "pw", "value": "old-canary"}}},
			planned:     object{"env": []any{object{"name": "pw", "value": "canary-canary"}}},
			wantLive:    object{"env": []any{object{"name": "x", "value": "y"}, object{"name": "pw", "value": "<secret> (old)"}}},
			wantPlanned: object{"env": []any{object{"name": "pw", "value": "<secret> (new)"}}},
		},
		"a number that is a known secret": {
			secrets: []string{"1234567890"}, planned: object{"pin": int64(1234567890)}, wantPlanned: object{"pin": "<secret>"},
		},
		"what a short secret has in common with everything": {
			secrets: []string{"true", "8080", "abc"}, planned: object{"a": true, "b": "true", "c": int64(8080), "d": "abc"},
			wantPlanned: object{"a": true, "b": "true", "c": int64(8080), "d": "abc"},
		},
		"a field that becomes another kind of thing": {
			secrets: []string{"canary-canary"}, live: object{"a": []any{"canary-canary"}}, planned: object{"a": object{"b": "canary-canary"}},
			wantLive: object{"a": []any{"<secret>"}}, wantPlanned: object{"a": object{"b": "<secret>"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var secrets [][]byte
			for _, s := range test.secrets {
				secrets = append(secrets, []byte(s))
			}
			kind := claimKind
			if test.secretKind {
				kind = secretKind
			}
			live, planned := masker{mask.New(secrets)}.objects(kind, test.live, test.planned)
			if diff := cmp.Diff([]object{test.wantLive, test.wantPlanned}, []object{live, planned}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
