package v1alpha1

// AddonSource is what an add-on is rendered from: a chart or a folder.
//
// +kubebuilder:validation:XValidation:rule="has(self.helm) != has(self.git)",message="set exactly one of source.helm and source.git"
type AddonSource struct {
	// helm is a chart of a repository or registry.
	// +optional
	Helm *HelmSource `json:"helm,omitempty"`
	// git is a folder of a git repository.
	// +optional
	Git *GitSource `json:"git,omitempty"`
}

// HelmSource is a chart of a repository or registry.
//
// +kubebuilder:validation:XValidation:rule="self.repo.matches('^(https?|oci)://[^/]')",message="source.helm.repo must be a URL that begins with https://, http:// or oci://"
// +kubebuilder:validation:XValidation:rule="!self.repo.matches('^[a-z]+://[^/]*@')",message="source.helm.repo may hold no user or password: put them in a Secret and name it in source.helm.credentialsSecretRef"
type HelmSource struct {
	// repo is the URL of a repository with an index.yaml (https://, http://), or of the
	// place in a registry that has the chart (oci://).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Repo string `json:"repo"`
	// chart is its name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`
	// +required
	Chart string `json:"chart"`
	// version of the chart, or a range such as ~1.10.0 or ">=1.2 <2": its newest version
	// is taken, and status.resolved tells which.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-0-9A-Za-z._+*^~<>=!|, ]+$`
	// +required
	Version string `json:"version"`
	// credentialsSecretRef names the Secret with the keys username and password, or token.
	// They are sent to the host of repo, and to the host that a registry names for its tokens.
	// +optional
	CredentialsSecretRef *SecretRef `json:"credentialsSecretRef,omitempty"`
}

// GitSource is a folder of a git repository.
//
// +kubebuilder:validation:XValidation:rule="self.repo.matches('^([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+|https?://[^/].*|file:///.*|/.*)$')",message="source.git.repo must be owner/name, a URL that begins with https://, http:// or file:///, or an absolute path"
// +kubebuilder:validation:XValidation:rule="!self.repo.matches('^[a-z]+://[^/]*@')",message="source.git.repo may hold no user or password: put them in a Secret and name it in source.git.credentialsSecretRef"
// +kubebuilder:validation:XValidation:rule="!self.path.startsWith('/')",message="source.git.path must be relative to the top of the repository: take the first slash off"
// +kubebuilder:validation:XValidation:rule="!self.path.matches('(^|/)[.][.](/|$)')",message="source.git.path may not leave the repository: write it without .. parts"
type GitSource struct {
	// repo is owner/name (on github.com), a URL, or the absolute path of a local repository.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	Repo string `json:"repo"`
	// path of the folder: a kustomization, or YAML files; "." is the top of the repository.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Path string `json:"path"`
	// revision is a commit, a branch or a tag; default: the default branch.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([^\s-]\S*)?$`
	// +optional
	Revision string `json:"revision,omitempty"`
	// credentialsSecretRef names the Secret with the keys username and password, or token.
	// They are sent to the host of repo only.
	// +optional
	CredentialsSecretRef *SecretRef `json:"credentialsSecretRef,omitempty"`
}

// SecretRef names a Secret in the namespace that Fairlead runs in.
type SecretRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// ValuesSource is a key of a Secret or of a ConfigMap.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.configMapRef)",message="set exactly one of secretRef and configMapRef in each of valuesFrom"
type ValuesSource struct {
	// secretRef names a Secret, in the namespace that Fairlead runs in.
	// +optional
	SecretRef *ValuesRef `json:"secretRef,omitempty"`
	// configMapRef names a ConfigMap, in the namespace that Fairlead runs in.
	// +optional
	ConfigMapRef *ValuesRef `json:"configMapRef,omitempty"`
}

// ValuesRef is a key that holds values as YAML text.
type ValuesRef struct {
	// name of the Secret or ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// key within it.
	// +kubebuilder:default=values.yaml
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
	// optional has the values be empty where the Secret, ConfigMap or key is missing.
	// +optional
	Optional bool `json:"optional,omitempty"`
}
