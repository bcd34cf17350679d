package secrets_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

func TestForProxy(t *testing.T) {
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawlers", Name: "a"},
		Spec:       crawl.ProxySpec{AuthSecretRef: &crawl.LocalSecretRef{Name: "auth"}},
	}
	labelled := map[string]string{crawl.LabelCloudInit: "true"}
	for name, test := range map[string]struct {
		labels         map[string]string
		user, password string
		says           []string
	}{
		"a user name and a password":      {labelled, "crawler", "p w%41:é", nil},
		"no label":                        {nil, "crawler", "canary", []string{"lacks the label crawl.example.com/cloud-init"}},
		"no user name":                    {labelled, "", "canary", []string{`no key "username"`}},
		"no password":                     {labelled, "crawler", "", []string{`no key "password"`}},
		"a colon in the user name":        {labelled, "a:b", "canary", []string{"colon"}},
		"a line break in the password":    {labelled, "a", "canary\n", []string{"line break"}},
		"a password that is not UTF-8":    {labelled, "a", "canary\xff\xfe", []string{"UTF-8"}},
		"a password bcrypt would shorten": {labelled, "a", strings.Repeat("canary", 13), []string{"72 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "crawlers", Name: "auth", Labels: test.labels}, Data: map[string][]byte{
				"username": []byte(test.user), "password": []byte(test.password),
			}}
			got, err := secrets.ForProxy(t.Context(), fake.NewClientBuilder().WithObjects(s).Build(), p)
			if test.says == nil {
				if err != nil || got.Username != test.user || got.Password != test.password {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, secrets.ErrCredentials) || !errors.Is(err, secrets.ErrUnusable) {
				t.Errorf("the error %v has another class", err)
			}
			for _, want := range append(test.says, "crawlers/auth") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want one that says %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestASecretThatIsNotThereNamesTheLabel(t *testing.T) {
	p := &crawl.Proxy{Spec: crawl.ProxySpec{AuthSecretRef: &crawl.LocalSecretRef{Name: "auth"}}}
	_, err := secrets.ForProxy(t.Context(), fake.NewClientBuilder().Build(), p)
	if err == nil || !strings.Contains(err.Error(), `crawl.example.com/cloud-init: "true"`) {
		t.Errorf("the error is %v", err)
	}
}
