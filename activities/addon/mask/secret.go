package mask

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SecretsOf are the values that a Secret holds, as they are written and decoded.
func SecretsOf(object *unstructured.Unstructured) [][]byte {
	if object == nil || object.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return nil
	}
	var out [][]byte
	for _, field := range []string{"data", "stringData"} {
		values, _ := object.Object[field].(map[string]any)
		for _, value := range values {
			text := fmt.Sprint(value)
			decoded, err := base64.StdEncoding.DecodeString(text)
			if field == "data" && err == nil {
				out = append(out, decoded)
			}
			if field != "data" || base64.StdEncoding.EncodeToString(decoded) != text {
				out = append(out, []byte(text)) // as it is: its base64 is a form of decoded
			}
		}
	}
	return out
}
