package kubernetes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/kubernetes"
	"example.com/fairlead/activities/provider/providertest"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// backend is a namespace of one test on the real API server. No node runs there:
// tests write the status that a kubelet would.
type backend struct {
	t         *testing.T
	client    client.Client
	namespace string
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	namespace := localtest.Namespace(t, c, "pods")
	// Without its controller, the default service account has to be made.
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	if err := c.Create(t.Context(), sa); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return &backend{t: t, client: c, namespace: namespace}
}

func (b *backend) open(clusterID string) provider.Provider {
	b.t.Helper()
	p, err := kubernetes.New(kubernetes.Options{
		Settings:  kubernetes.Settings{Namespace: b.namespace, Image: "localhost/squid:dev"},
		ClusterID: clusterID,
		Client:    b.client,
		Name:      "pods",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *backend) request(uid string) provider.Request {
	return providertest.Harness{Place: b.namespace}.Request(providertest.Cluster, uid)
}

func (b *backend) pod(id provider.ID) *corev1.Pod {
	b.t.Helper()
	var pod corev1.Pod
	if err := b.client.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: id.Name}, &pod); err != nil {
		b.t.Fatal(err)
	}
	return &pod
}

// setStatus writes what a kubelet or scheduler would.
func (b *backend) setStatus(t *testing.T, id provider.ID, status corev1.PodStatus) {
	t.Helper()
	pod := b.pod(id)
	before := pod.DeepCopy()
	pod.Status = status
	if err := b.client.Status().Patch(t.Context(), pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func readyStatus() corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.244.0.7", PodIPs: []corev1.PodIP{{IP: "10.244.0.7"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
}

func (b *backend) create(req provider.Request) provider.Instance {
	b.t.Helper()
	inst, err := b.open(providertest.Cluster).Create(b.t.Context(), req)
	if err != nil {
		b.t.Fatal(err)
	}
	return inst
}

func (b *backend) get(id provider.ID) provider.Instance {
	b.t.Helper()
	inst, err := b.open(providertest.Cluster).Get(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return inst
}

func TestStateFollowsThePod(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	b.create(req)
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "squid", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	notReady := readyStatus()
	notReady.Conditions[0].Status = corev1.ConditionFalse
	for name, test := range map[string]struct {
		status  corev1.PodStatus
		state   provider.State
		message string
	}{
		"ready":                          {readyStatus(), provider.Running, ""},
		"running but not ready":          {notReady, provider.Provisioning, "the pod waits for a node"},
		"an image that cannot be pulled": {waiting("ImagePullBackOff", "no such image"), provider.Provisioning, "ImagePullBackOff: no such image"},
		"no node has room": {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available",
		}}}, provider.Provisioning, "Unschedulable: 0/1 nodes are available"},
		"evicted":   {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}, provider.Stopped, "the pod ended as Failed (Evicted): low on memory"},
		"succeeded": {corev1.PodStatus{Phase: corev1.PodSucceeded}, provider.Stopped, "the pod ended as Succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			b.setStatus(t, req.ID, test.status)
			inst := b.get(req.ID)
			if inst.State != test.state || inst.Message != test.message {
				t.Errorf("the state is %s, %q", inst.State, inst.Message)
			}
			if ok := inst.Host == "10.244.0.7" && inst.Port == 3128; ok != (test.state == provider.Running) {
				t.Errorf("the address is %s:%d", inst.Host, inst.Port)
			}
		})
	}
}

func TestAPodThatIsBeingDeletedIsStillThere(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	b.create(req)
	pod := b.pod(req.ID)
	before := pod.DeepCopy()
	pod.Finalizers = []string{"example.com/stuck"}
	if err := b.client.Patch(t.Context(), pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.client.Patch(context.Background(), before, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		if err := b.open(providertest.Cluster).Delete(t.Context(), req.ID); err != nil {
			t.Fatal(err)
		}
	}
	if inst := b.get(req.ID); inst.State != provider.Unknown || !strings.Contains(inst.Message, "being deleted since") {
		t.Errorf("the instance is %+v", inst)
	}
	if inst := b.create(req); inst.State != provider.Unknown {
		t.Errorf("create returned %+v", inst)
	}
}

func TestSettingsOfTheProxyShapeThePod(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	req.Spec = crawl.ProxySpec{Port: 8888, Kubernetes: &crawl.KubernetesSettings{
		Image:        "example.com/squid:1",
		NodeSelector: map[string]string{"kind": "egress"},
		Tolerations:  []corev1.Toleration{{Key: "egress", Operator: corev1.TolerationOpExists}},
		Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}},
	}}
	b.create(req)
	pod := b.pod(req.ID)
	c := pod.Spec.Containers[0]
	if c.Image != "example.com/squid:1" || c.Ports[0].ContainerPort != 8888 || c.ReadinessProbe.TCPSocket.Port.IntValue() != 8888 {
		t.Errorf("the container is %+v", c)
	}
	if diff := cmp.Diff(req.Spec.Kubernetes.NodeSelector, pod.Spec.NodeSelector); diff != "" {
		t.Errorf("node selector (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(req.Spec.Kubernetes.Resources.Requests, c.Resources.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if !strings.Contains(cmp.Diff(nil, pod.Spec.Tolerations), "egress") {
		t.Errorf("the tolerations are %v", pod.Spec.Tolerations)
	}
	if !strings.Contains(pod.Annotations["crawl.example.com/squid.conf"], "http_port 8888\n") {
		t.Errorf("squid.conf is:\n%s", pod.Annotations["crawl.example.com/squid.conf"])
	}
}

func TestPodsPassTheRestrictedSecurityStandard(t *testing.T) {
	b := newBackend(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
	if err := b.client.Patch(t.Context(), ns, patch); err != nil {
		t.Fatal(err)
	}
	req := b.request("a")
	req.Credentials = &secrets.Credentials{Username: "crawler", Password: "canary"}
	b.create(req)
	if spec := b.pod(req.ID).Spec; *spec.AutomountServiceAccountToken || len(spec.Volumes) != 2 {
		t.Errorf("the pod has volumes %+v", spec.Volumes)
	}
}

func TestCredentialsAreInTheSecretOnlyAndHashed(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	req.Credentials = &secrets.Credentials{Username: "crawler", Password: "canary"}
	b.create(req)
	pod := b.pod(req.ID)
	if strings.Contains(pod.String(), "canary") || !strings.Contains(pod.Annotations["crawl.example.com/squid.conf"], "basic_ncsa_auth") {
		t.Errorf("the pod is %v", pod)
	}
	var s corev1.Secret
	key := client.ObjectKeyFromObject(pod)
	if err := b.client.Get(t.Context(), key, &s); err != nil {
		t.Fatal(err)
	}
	user, hash, _ := strings.Cut(strings.TrimSpace(string(s.Data["users"])), ":")
	if err := bcrypt.CompareHashAndPassword([]byte(hash), []byte("canary")); err != nil || user != "crawler" {
		t.Errorf("the Secret has user %q: %v", user, err)
	}
	if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != pod.UID {
		t.Errorf("the owners of the Secret are %v", s.OwnerReferences)
	}

	// A call that was cut short after the pod is made good by the next one.
	if err := b.client.Delete(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	b.create(req)
	if err := b.client.Get(t.Context(), key, &s); err != nil {
		t.Error(err)
	}
	// A Secret of a former pod is not used.
	if err := b.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	b.create(req)
	var again corev1.Secret
	if err := b.client.Get(t.Context(), key, &again); err != nil || again.UID == s.UID {
		t.Errorf("the new pod has the old Secret (%v)", err)
	}

	if err := b.open(providertest.Cluster).Delete(t.Context(), req.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Get(t.Context(), key, &again); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret outlives its instance: %v", err)
	}
}

func TestAForeignPodIsNeverTouched(t *testing.T) {
	b := newBackend(t)
	req := b.request("a")
	foreign := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: req.Place, Name: req.Name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "x"}}, AutomountServiceAccountToken: ptr.To(false)},
	}
	if err := b.client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	p := b.open(providertest.Cluster)
	if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrPermanent) || !strings.Contains(err.Error(), req.Name) {
		t.Errorf("create: %v", err)
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
	if got := b.pod(req.ID); got.UID != foreign.UID || got.DeletionTimestamp != nil {
		t.Errorf("the foreign pod was touched: %v", got.ObjectMeta)
	}
}

func TestRefusalsHaveTheirClass(t *testing.T) {
	b := newBackend(t)
	t.Run("a name of a selector that is no label is permanent", func(t *testing.T) {
		req := b.request("invalid")
		req.Spec.Kubernetes = &crawl.KubernetesSettings{NodeSelector: map[string]string{"a b": "c"}}
		_, err := b.open(providertest.Cluster).Create(t.Context(), req)
		if !errors.Is(err, provider.ErrPermanent) {
			t.Error(err)
		}
	})
	t.Run("a namespace that is not there yet is transient", func(t *testing.T) {
		req := b.request("nowhere")
		req.Place = "nowhere"
		if _, err := b.open(providertest.Cluster).Create(t.Context(), req); !errors.Is(provider.Class(err), provider.ErrTransient) {
			t.Error(err)
		}
	})
	t.Run("a user without rights is permanent", func(t *testing.T) {
		config := localtest.ControlPlane(t)
		config.Impersonate.UserName = "nobody"
		c, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := (&backend{t: t, client: c, namespace: b.namespace}).open(providertest.Cluster)
		if _, err := p.Create(t.Context(), b.request("denied")); !errors.Is(err, provider.ErrPermanent) {
			t.Error(err)
		}
		if s := p.Check(t.Context())[0]; s.Ready || s.Reason != "Forbidden" {
			t.Errorf("the verdict is %+v", s)
		}
	})
	t.Run("a namespace whose ServiceAccount is not there yet is transient", func(t *testing.T) {
		young := newBackend(t)
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: young.namespace, Name: "default"}}
		if err := young.client.Delete(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		eventually.Until(t, "the missing account refuses", func() bool {
			req := young.request("young")
			_, err := young.open(providertest.Cluster).Create(t.Context(), req)
			if err == nil { // the admission plugin had not seen it yet
				if err := young.client.Delete(t.Context(), young.pod(req.ID), client.GracePeriodSeconds(0)); err != nil {
					t.Fatal(err)
				}
				return false
			}
			if !errors.Is(provider.Class(err), provider.ErrTransient) {
				t.Fatalf("error = %v, want a transient one", err)
			}
			return true
		})
	})
	t.Run("a full quota is a quota", func(t *testing.T) {
		full := newBackend(t)
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: full.namespace, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		if err := full.client.Create(t.Context(), quota); err != nil {
			t.Fatal(err)
		}
		// What the quota controller would write.
		quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
		if err := full.client.Status().Update(t.Context(), quota); err != nil {
			t.Fatal(err)
		}
		eventually.Until(t, "the quota refuses", func() bool {
			req := full.request("quota")
			_, err := full.open(providertest.Cluster).Create(t.Context(), req)
			if err == nil { // the admission plugin had not seen it yet
				if err := full.client.Delete(t.Context(), full.pod(req.ID), client.GracePeriodSeconds(0)); err != nil {
					t.Fatal(err)
				}
			}
			return errors.Is(err, provider.ErrQuotaExceeded)
		})
	})
	t.Run("a namespace that is going is transient", func(t *testing.T) {
		going := newBackend(t)
		if err := going.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going.namespace}}); err != nil {
			t.Fatal(err)
		}
		if _, err := going.open(providertest.Cluster).Create(t.Context(), going.request("a")); !errors.Is(provider.Class(err), provider.ErrTransient) {
			t.Error(err)
		}
	})
}

func TestListReadsAllPages(t *testing.T) {
	b := newBackend(t)
	const pods = 501 // one more than a page
	template := b.request("template")
	b.create(template)
	pod := b.pod(template.ID)
	for i := range pods - 1 {
		clone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, GenerateName: "clone-", Labels: pod.Labels, Annotations: pod.Annotations,
		}, Spec: pod.Spec}
		if err := b.client.Create(t.Context(), clone); err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
	}
	l, err := b.open(providertest.Cluster).List(t.Context())
	if err != nil || len(l.Instances) != pods {
		t.Errorf("the list has %d instances (%v)", len(l.Instances), err)
	}
}
