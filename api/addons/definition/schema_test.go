package definition_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fairlead/api/addons/definition"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// TestWhatTheSchemaRefusesIsRefused holds each rule against the API server, which gets what
// the file says in another way.
func TestWhatTheSchemaRefusesIsRefused(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	helm := func(s addons.HelmSource) func(*addons.Addon) {
		return func(a *addons.Addon) { a.Spec.Source.Helm = &s }
	}
	folder := func(repo, path string) func(*addons.Addon) {
		return func(a *addons.Addon) {
			a.Spec.Source = addons.AddonSource{Git: &addons.GitSource{Repo: repo, Path: path}}
		}
	}
	repo := func(url string) func(*addons.Addon) {
		return helm(addons.HelmSource{Repo: url, Chart: "web", Version: "1.0.0"})
	}
	for name, test := range map[string]struct {
		text string
		// object is what text says as an Addon, but for what base and chart say.
		object func(*addons.Addon)
		says   string
		// words are those of the server, if they are the same.
		words string
	}{
		"a name too long for a label":     {text: "name: " + long(64) + "\nnamespace: web\n" + chart, object: func(a *addons.Addon) { a.Name = long(64) }, says: "web.yaml:1: name is"},
		"a name too long for a release":   {text: "name: " + long(54) + "\nnamespace: web\n" + chart, object: func(a *addons.Addon) { a.Name = long(54) }, says: "web.yaml:1: without releaseName the name is that of the Helm release too, which may have 53 characters: set releaseName", words: "without spec.releaseName the name is that of the Helm release too, which may have 53 characters: set spec.releaseName"},
		"no namespace":                    {text: "name: web\n" + chart, object: func(a *addons.Addon) { a.Spec.Namespace = "" }, says: "namespace is missing"},
		"a namespace that cannot be":      {text: "name: web\nnamespace: No_Way\n" + chart, object: func(a *addons.Addon) { a.Spec.Namespace = "No_Way" }, says: "web.yaml:2: namespace is"},
		"neither chart nor folder":        {text: base, object: func(a *addons.Addon) { a.Spec.Source = addons.AddonSource{} }, says: "set exactly one of helm and git", words: "set exactly one of source.helm and source.git"},
		"chart and folder":                {text: base + chart + "git: {path: web}\n", object: func(a *addons.Addon) { a.Spec.Source.Git = &addons.GitSource{Repo: "a/b", Path: "web"} }, says: "web.yaml:4: set exactly one of helm and git", words: "set exactly one of source.helm and source.git"},
		"a chart of a path":               {text: base + "helm: {repo: charts/web, chart: web, version: 1.0.0}\n", object: repo("charts/web"), says: "helm.repo must be a URL that begins with https://, http:// or oci://", words: "source.helm.repo must be a URL that begins with https://, http:// or oci://"},
		"a password in the chart's URL":   {text: base + "helm: {repo: 'https://u:p@charts.example.com', chart: web, version: 1.0.0}\n", object: repo("https://u:p@charts.example.com"), says: "helm.repo may hold no user or password: put them in a Secret and name it in helm.credentialsSecretRef", words: "source.helm.repo may hold no user or password: put them in a Secret and name it in source.helm.credentialsSecretRef"},
		"no repository of charts":         {text: base + "helm: {chart: web, version: 1.0.0}\n", object: repo(""), says: "web.yaml:3: helm.repo is missing"},
		"a chart with a name of parts":    {text: base + "helm: {repo: 'https://a.example.com', chart: ../web/, version: 1.0.0}\n", object: helm(addons.HelmSource{Repo: "https://a.example.com", Chart: "../web/", Version: "1.0.0"}), says: "helm.chart is"},
		"no version":                      {text: base + "helm: {repo: 'https://a.example.com', chart: web}\n", object: helm(addons.HelmSource{Repo: "https://a.example.com", Chart: "web"}), says: "helm.version is missing"},
		"a version that is none":          {text: base + "helm: {repo: 'https://a.example.com', chart: web, version: $(id)}\n", object: helm(addons.HelmSource{Repo: "https://a.example.com", Chart: "web", Version: "$(id)"}), says: "helm.version is"},
		"a repository of nothing":         {text: git("repo: gitops"), object: folder("gitops", "web"), says: "git.repo must be owner/name, a URL that begins with https://, http:// or file:///, or an absolute path", words: "source.git.repo must be owner/name, a URL that begins with https://, http:// or file:///, or an absolute path"},
		"a token in the repository's URL": {text: git("repo: 'https://token@git.example.com/a'"), object: folder("https://token@git.example.com/a", "web"), says: "git.repo may hold no user or password: put them in a Secret and name it in git.credentialsSecretRef", words: "source.git.repo may hold no user or password: put them in a Secret and name it in source.git.credentialsSecretRef"},
		"no path":                         {text: base + "git: {repo: a/b}\n", object: folder("a/b", ""), says: "web.yaml:3: git.path is missing"},
		"an absolute path":                {text: base + "git: {path: /etc}\n", object: folder("a/b", "/etc"), says: "git.path must be relative to the top of the repository: take the first slash off", words: "source.git.path must be relative to the top of the repository: take the first slash off"},
		"a path out of the repository":    {text: base + "git: {path: web/../../other}\n", object: folder("a/b", "web/../../other"), says: "git.path may not leave the repository: write it without .. parts", words: "source.git.path may not leave the repository: write it without .. parts"},
		"a path that ends above":          {text: base + "git: {path: web/..}\n", object: folder("a/b", "web/.."), says: "git.path may not leave the repository"},
		"a revision that is an option":    {text: git("revision: --upload-pack=x"), object: func(a *addons.Addon) { folder("a/b", "web")(a); a.Spec.Source.Git.Revision = "--upload-pack=x" }, says: "git.revision is"},
		"credentials without a name": {text: git("credentialsSecretRef: {}"), object: func(a *addons.Addon) {
			folder("a/b", "web")(a)
			a.Spec.Source.Git.CredentialsSecretRef = &addons.SecretRef{}
		}, says: "git.credentialsSecretRef.name is missing"},
		"values of a folder": {text: git("") + "values: {a: 1}\n", object: func(a *addons.Addon) { folder("a/b", "web")(a); a.Spec.Values = "a: 1" }, says: "values are for helm only: a folder in git has no values", words: "values are for source.helm only: a folder in git has no values"},
		"values of a Secret for a folder": {text: git("") + "valuesFrom: [{secretRef: {name: a}}]\n", object: func(a *addons.Addon) {
			folder("a/b", "web")(a)
			a.Spec.ValuesFrom = []addons.ValuesSource{{SecretRef: &addons.ValuesRef{Name: "a"}}}
		}, says: "valuesFrom is for helm only: a folder in git has no values", words: "valuesFrom is for source.helm only: a folder in git has no values"},
		"values that are too long": {text: base + chart + "values: {a: " + long(512<<10) + "}\n", object: func(a *addons.Addon) { a.Spec.Values = "a: " + long(512<<10) }, says: "web.yaml:4: values has 524292 characters: 524288 at most"},
		"values of nothing":        {text: base + chart + "valuesFrom: [{}]\n", object: func(a *addons.Addon) { a.Spec.ValuesFrom = []addons.ValuesSource{{}} }, says: "set exactly one of secretRef and configMapRef in each of valuesFrom", words: "set exactly one of secretRef and configMapRef in each of valuesFrom"},
		"values of too many": {text: base + chart + "valuesFrom: [" + strings.Repeat("{secretRef: {name: a}},", 17) + "]\n", object: func(a *addons.Addon) {
			for range 17 {
				a.Spec.ValuesFrom = append(a.Spec.ValuesFrom, addons.ValuesSource{SecretRef: &addons.ValuesRef{Name: "a"}})
			}
		}, says: "valuesFrom has 17 items: 16 at most"},
		"a release name that cannot be":     {text: base + chart + "releaseName: Web\n", object: func(a *addons.Addon) { a.Spec.ReleaseName = "Web" }, says: "web.yaml:4: releaseName is"},
		"a release name that is too long":   {text: base + chart + "releaseName: " + long(54) + "\n", object: func(a *addons.Addon) { a.Spec.ReleaseName = long(54) }, says: "releaseName has 54 characters: 53 at most"},
		"a replace policy that is none":     {text: base + chart + "replacePolicy: Always\n", object: func(a *addons.Addon) { a.Spec.ReplacePolicy = "Always" }, says: "set Never or OnApproval"},
		"a hook longer than a day":          {text: base + chart + "hookTimeout: 86401\n", object: func(a *addons.Addon) { a.Spec.HookTimeout = 86401 }, says: "hookTimeout is 86401"},
		"a hook that ends before it begins": {text: base + chart + "hookTimeout: -1\n", object: func(a *addons.Addon) { a.Spec.HookTimeout = -1 }, says: "hookTimeout is -1"},
		"an add-on that waits for itself":   {text: base + chart + "dependsOn: [{name: web}]\n", object: func(a *addons.Addon) { a.Spec.DependsOn = []addons.Dependency{{Name: "web"}} }, says: "an add-on cannot depend on itself: take its own name off dependsOn", words: "an add-on cannot depend on itself: take its own name off spec.dependsOn"},
		"the same dependency twice":         {text: base + chart + "dependsOn: [{name: a}, {name: a}]\n", object: func(a *addons.Addon) { a.Spec.DependsOn = []addons.Dependency{{Name: "a"}, {Name: "a"}} }, says: `dependsOn has "a" twice`},
		"ignored fields of no kind":         {text: base + chart + "ignoreDifferences: [{jsonPointers: [/a]}]\n", object: ignored(addons.IgnoredDifference{JSONPointers: []string{"/a"}}), says: "ignoreDifferences[0].kind is missing"},
		"ignored fields, and none named":    {text: base + chart + "ignoreDifferences: [{kind: Secret}]\n", object: ignored(addons.IgnoredDifference{Kind: "Secret", JSONPointers: []string{}}), says: "ignoreDifferences[0].jsonPointers is missing"},
		"an ignored field with a dot path":  {text: base + chart + "ignoreDifferences: [{kind: Secret, jsonPointers: [.spec]}]\n", object: ignored(addons.IgnoredDifference{Kind: "Secret", JSONPointers: []string{".spec"}}), says: "write a JSON pointer such as /spec/replicas"},
		"a title that is a book":            {text: base + chart + "title: " + long(1025) + "\n", object: func(a *addons.Addon) { a.Spec.Title = long(1025) }, says: "title has 1025 characters: 1024 at most"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := definition.Parse("web.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error that says %q", err, test.says)
			}
			valid, err := definition.Parse("web.yaml", []byte(base+chart))
			if err != nil {
				t.Fatal(err)
			}
			a := valid.Addon()
			test.object(a)
			if err := store(t, a); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("the API server gave %v, want a refusal that says %q", err, test.words)
			}
		})
	}
}

func ignored(d addons.IgnoredDifference) func(*addons.Addon) {
	return func(a *addons.Addon) { a.Spec.IgnoreDifferences = []addons.IgnoredDifference{d} }
}
