{{- define "bakery.pod" -}}
restartPolicy: Never
securityContext: {runAsNonRoot: true, runAsUser: 65534, seccompProfile: {type: RuntimeDefault}}
{{- end }}
{{- define "bakery.container" -}}
image: {{ .Values.image }}
imagePullPolicy: Never
securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
{{- end }}
