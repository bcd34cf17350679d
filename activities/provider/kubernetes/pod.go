package kubernetes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// Names within a pod. The user is Debian's and Ubuntu's "proxy".
const (
	containerName  = "squid"
	squidUser      = 13
	configDir      = "/etc/fairlead"
	configName     = "squid.conf"
	usersDir       = "/etc/fairlead-users"
	usersKey       = "users"
	annotationConf = "crawl.example.com/squid.conf"
)

const stopSeconds = 3

// pod is the pod of req. Its configuration travels in an annotation that the pod
// mounts: one object is made or not made, two could be half made.
func (p *Provider) pod(req provider.Request) (*corev1.Pod, error) {
	port := req.Spec.ListenPort()
	conf, err := squidConf(req.Name, port, req.Credentials != nil)
	if err != nil {
		return nil, err
	}
	settings := ptr.Deref(req.Spec.Kubernetes, crawl.KubernetesSettings{})
	image := settings.Image
	if image == "" {
		image = p.settings.Image
	}
	pod := &corev1.Pod{
		ObjectMeta: p.objectMeta(req),
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: ptr.To[int64](stopSeconds),
			AutomountServiceAccountToken:  ptr.To(false),
			EnableServiceLinks:            ptr.To(false),
			NodeSelector:                  settings.NodeSelector,
			Tolerations:                   settings.Tolerations,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To[int64](squidUser),
				RunAsGroup:     ptr.To[int64](squidUser),
				FSGroup:        ptr.To[int64](squidUser), // may read the Secret
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{container(image, port, settings.Resources)},
			Volumes:    []corev1.Volume{confVolume()},
		},
	}
	pod.Annotations[annotationConf] = conf
	if req.Credentials != nil {
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: usersKey, MountPath: usersDir, ReadOnly: true})
		pod.Spec.Volumes = append(pod.Spec.Volumes, usersVolume(req.Name))
	}
	return pod, nil
}

func container(image string, port int32, resources corev1.ResourceRequirements) corev1.Container {
	return corev1.Container{
		Name:            containerName,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/usr/sbin/squid", "-N", "-f", configDir + "/" + configName},
		Ports:           []corev1.ContainerPort{{Name: "proxy", ContainerPort: port}},
		Resources:       resources,
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
			PeriodSeconds: 1,
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: configDir, ReadOnly: true}},
	}
}

func confVolume() corev1.Volume {
	return corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{{
			Path:     configName,
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + annotationConf + "']"},
		}},
	}}}
}

func usersVolume(secret string) corev1.Volume {
	return corev1.Volume{Name: usersKey, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: secret, DefaultMode: ptr.To[int32](0o440),
	}}}
}

// usersSecret holds the password file of req. It goes with its pod.
func (p *Provider) usersSecret(req provider.Request, pod *corev1.Pod) (*corev1.Secret, error) {
	line, err := usersLine(req.Credentials)
	if err != nil {
		return nil, err
	}
	s := &corev1.Secret{ObjectMeta: p.objectMeta(req), StringData: map[string]string{usersKey: line}}
	s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}}
	return s, nil
}
