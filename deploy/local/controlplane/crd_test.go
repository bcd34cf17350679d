package controlplane_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func proxy(name string, spec v1alpha1.ProxySpec) *v1alpha1.Proxy {
	return &v1alpha1.Proxy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec:       spec,
	}
}

func TestProxyIsStoredWithItsDefaults(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	p := proxy("stored", v1alpha1.ProxySpec{Provider: "process"})
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Spec.Mode, v1alpha1.ModeManaged; got != want {
		t.Errorf("mode is %q, want %q", got, want)
	}
	if got, want := p.Spec.Port, int32(v1alpha1.DefaultPort); got != want {
		t.Errorf("port is %d, want %d", got, want)
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	tests := []struct {
		name string
		spec v1alpha1.ProxySpec
		want string
	}{
		{
			name: "external-without-endpoint",
			spec: v1alpha1.ProxySpec{Mode: v1alpha1.ModeExternal},
			want: "mode External needs endpoint",
		},
		{
			name: "managed-without-provider",
			spec: v1alpha1.ProxySpec{Mode: v1alpha1.ModeManaged},
			want: "mode Managed needs provider",
		},
		{
			name: "managed-with-endpoint",
			spec: v1alpha1.ProxySpec{Provider: "process", Endpoint: &v1alpha1.Endpoint{Host: "192.0.2.1"}},
			want: "endpoint is for mode External only",
		},
		{
			name: "external-with-provider",
			spec: v1alpha1.ProxySpec{Mode: v1alpha1.ModeExternal, Endpoint: &v1alpha1.Endpoint{Host: "192.0.2.1"}, Provider: "process"},
			want: "are for mode Managed only",
		},
		{
			name: "two-cloud-init-sources",
			spec: v1alpha1.ProxySpec{Provider: "process", CloudInit: &v1alpha1.CloudInit{
				UserData: "#cloud-config", SecretRef: &v1alpha1.SecretKeyRef{Name: "seed"},
			}},
			want: "set exactly one of cloudInit.userData and cloudInit.secretRef",
		},
		{
			name: "two-settings-blocks",
			spec: v1alpha1.ProxySpec{Provider: "process", GCP: &v1alpha1.GCPSettings{}, KVM: &v1alpha1.KVMSettings{}},
			want: "set only one of kubernetes, gcp and kvm",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Create(t.Context(), proxy(tt.name, tt.spec))
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("create gave %v, want a refusal that says %q", err, tt.want)
			}
		})
	}
}

func TestStatusOfAnOlderWriterIsRefused(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	p := proxy("fenced", v1alpha1.ProxySpec{Provider: "process"})
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.Status = v1alpha1.ProxyStatus{Phase: v1alpha1.PhasePending, Sequence: 5}
	if err := c.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	older := p.DeepCopy()
	older.Status.Sequence = 4
	err := c.Status().Update(t.Context(), older)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.sequence may not go backwards") {
		t.Fatalf("update with sequence 4 after 5 gave %v, want a refusal", err)
	}
	without := p.DeepCopy()
	without.Status = v1alpha1.ProxyStatus{}
	if err := c.Status().Update(t.Context(), without); !apierrors.IsInvalid(err) {
		t.Fatalf("update without a sequence gave %v, want a refusal", err)
	}
	p.Labels = map[string]string{"edited": "yes"}
	if err := c.Update(t.Context(), p); err != nil {
		t.Fatalf("an edit of labels is refused: %v", err)
	}
}
