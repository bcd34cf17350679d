package folder

import (
	"strings"
	"testing"
)

func TestMeasureCountsWhatAliasesAddOnly(t *testing.T) {
	d := &disk{}
	half := "a: &a x\nb: *a\nc: [" + strings.Repeat("1,", maxCopies/2) + "1]\n"
	for range 3 {
		if err := d.measure([]byte(half)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.measure([]byte("a: &a [" + strings.Repeat("1,", maxCopies/2) + "1]\nb: [*a, *a]\n")); err == nil {
		t.Error("two copies of half of what is allowed are not too much")
	}
	if err := (&disk{}).measure([]byte("x: &x [*x]\n")); err == nil {
		t.Error("an alias of itself is not too much")
	}
	if err := (&disk{}).measure([]byte("if [ a ] && [ * ]: {")); err != nil {
		t.Errorf("what is no YAML is refused: %v", err)
	}
}
