package manifest

import (
	"fmt"
	"strings"
)

const maxListDepth = 8

// itemsOf are the items of an object that is a list for kubectl: List, or the list of a
// kind as ConfigMapList. The items of the latter may leave out what they are.
func itemsOf(object map[string]any) (items []any, isList bool, err error) {
	kind, _ := object["kind"].(string)
	member, named := strings.CutSuffix(kind, "List")
	value, has := object["items"]
	if !named || !has {
		return nil, false, nil
	}
	items, ok := value.([]any)
	if !ok && value != nil {
		return nil, false, fmt.Errorf("the items of the %s are %s, not a list", kind, describe(value))
	}
	if member != "" {
		for _, item := range items {
			complete(item, object["apiVersion"], member)
		}
	}
	return items, true, nil
}

// complete tells an item what it is, if it does not know.
func complete(item any, apiVersion any, kind string) {
	object, ok := item.(map[string]any)
	if !ok || object["kind"] != nil || object["apiVersion"] != nil {
		return
	}
	object["kind"], object["apiVersion"] = kind, apiVersion
}
