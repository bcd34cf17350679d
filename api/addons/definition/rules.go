package definition

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// The rules are those of the schema of an Addon, in its words, with the fields as a file has
// them. Fields that a list of an Addon may have are in lists.go.

const (
	maxLabel   = 63
	maxRelease = 53
	maxName    = 253
	maxURL     = 2048
	maxPath    = 1024
	maxTitle   = 1024
	maxText    = 64 << 10
	maxValues  = 512 << 10
	maxTimeout = 86_400
)

var (
	labelForm    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	releaseForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	chartForm    = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
	versionForm  = regexp.MustCompile(`^[-0-9A-Za-z._+*^~<>=!|, ]+$`)
	helmRepoForm = regexp.MustCompile(`^(https?|oci)://[^/]`)
	gitRepoForm  = regexp.MustCompile(`^([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+|https?://[^/].*|file:///.*|/.*)$`)
	revisionForm = regexp.MustCompile(`^[^\s-]\S*$`)
	secretForm   = regexp.MustCompile(`^[a-z]+://[^/]*@`)
	upForm       = regexp.MustCompile(`(^|/)[.][.](/|$)`)
)

// rules finds what the fields say and may not.
func (p *problems) rules(d *Definition) {
	p.label("name", d.Name)
	p.label("namespace", d.Spec.Namespace)
	p.source(d)
	p.releaseName(d)
	p.values(&d.Spec)
	p.valuesFrom(d.Spec.ValuesFrom)
	p.ignoreDifferences(d.Spec.IgnoreDifferences)
	p.dependsOn(d.Name, d.Spec.DependsOn)
	switch d.Spec.ReplacePolicy {
	case "", addons.ReplaceNever, addons.ReplaceOnApproval:
	default:
		p.add("replacePolicy", "replacePolicy is %q: set Never or OnApproval", d.Spec.ReplacePolicy)
	}
	if t := d.Spec.HookTimeout; t < 0 || t > maxTimeout {
		p.add("hookTimeout", "hookTimeout is %d: set seconds from 1 to %d, or 0 for 600", t, maxTimeout)
	}
	p.atMost("title", d.Spec.Title, maxTitle)
	p.atMost("category", d.Spec.Category, maxTitle)
	p.atMost("description", d.Spec.Description, maxText)
}

func (p *problems) label(field, value string) {
	switch {
	case value == "":
		p.add(field, "%s is missing", field)
	case len(value) > maxLabel || !labelForm.MatchString(value):
		p.add(field, "%s is %s: it must be a DNS label: lowercase letters, digits and dashes between them, %d at most", field, quoted(value), maxLabel)
	}
}

func (p *problems) source(d *Definition) {
	helm, git := d.Spec.Source.Helm, d.Spec.Source.Git
	switch {
	case (helm == nil) == (git == nil):
		p.add("git", "set exactly one of helm and git")
	case helm != nil:
		p.helm(helm)
	default:
		p.git(git)
	}
}

func (p *problems) helm(s *addons.HelmSource) {
	switch {
	case !p.within("helm.repo", s.Repo, maxURL):
	case !helmRepoForm.MatchString(s.Repo):
		p.add("helm.repo", "helm.repo must be a URL that begins with https://, http:// or oci://")
	case secretForm.MatchString(s.Repo):
		p.add("helm.repo", "helm.repo may hold no user or password: put them in a Secret and name it in helm.credentialsSecretRef")
	}
	p.matches("helm.chart", s.Chart, maxName, chartForm, "the name of a chart has letters, digits, dots, dashes and underscores")
	p.matches("helm.version", s.Version, maxName, versionForm, "write a version, or a range such as ~1.10.0")
	p.credentials("helm.credentialsSecretRef", s.CredentialsSecretRef)
}

func (p *problems) git(s *addons.GitSource) {
	switch {
	case s.Repo == "" || !p.within("git.repo", s.Repo, maxURL):
	case !gitRepoForm.MatchString(s.Repo):
		p.add("git.repo", "git.repo must be owner/name, a URL that begins with https://, http:// or file:///, or an absolute path")
	case secretForm.MatchString(s.Repo):
		p.add("git.repo", "git.repo may hold no user or password: put them in a Secret and name it in git.credentialsSecretRef")
	}
	switch {
	case !p.within("git.path", s.Path, maxPath):
	case strings.HasPrefix(s.Path, "/"):
		p.add("git.path", "git.path must be relative to the top of the repository: take the first slash off")
	case upForm.MatchString(s.Path):
		p.add("git.path", "git.path may not leave the repository: write it without .. parts")
	}
	if s.Revision != "" {
		p.matches("git.revision", s.Revision, maxName, revisionForm, "write a commit, a branch or a tag")
	}
	p.credentials("git.credentialsSecretRef", s.CredentialsSecretRef)
}

func (p *problems) credentials(field string, ref *addons.SecretRef) {
	if ref != nil {
		p.within(field+".name", ref.Name, maxName)
	}
}

func (p *problems) releaseName(d *Definition) {
	switch name := d.Spec.ReleaseName; {
	case name != "":
		p.matches("releaseName", name, maxRelease, releaseForm, "lowercase letters, digits, and dashes and dots between them")
	case d.Spec.Source.Helm != nil && len(d.Name) > maxRelease && len(d.Name) <= maxLabel:
		p.add("name", "without releaseName the name is that of the Helm release too, which may have %d characters: set releaseName", maxRelease)
	}
}

func (p *problems) values(s *addons.AddonSpec) {
	if s.Source.Helm == nil && s.Values != "" {
		p.add("values", "values are for helm only: a folder in git has no values")
	}
	if s.Source.Helm == nil && len(s.ValuesFrom) > 0 {
		p.add("valuesFrom", "valuesFrom is for helm only: a folder in git has no values")
	}
	p.atMost("values", s.Values, maxValues)
}

// matches finds a value that is missing, too long, or not of its form.
func (p *problems) matches(field, value string, most int, form *regexp.Regexp, remedy string) {
	if p.within(field, value, most) && !form.MatchString(value) {
		p.add(field, "%s is %s: %s", field, quoted(value), remedy)
	}
}

// within finds a value that is missing or too long.
func (p *problems) within(field, value string, most int) bool {
	if value == "" {
		p.add(field, "%s is missing", field)
		return false
	}
	return p.atMost(field, value, most)
}

func (p *problems) atMost(field, value string, most int) bool {
	n := utf8.RuneCountInString(value)
	if n > most {
		p.add(field, "%s has %d characters: %d at most", field, n, most)
	}
	return n <= most
}

// quoted is a value as an error shows it.
func quoted(value string) string {
	if r := []rune(value); len(r) > maxLabel {
		value = string(r[:maxLabel]) + "…"
	}
	return fmt.Sprintf("%q", value)
}
