{{- define "lib.configmap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}-{{ .root.Release.Name }}
data:
  chart: {{ .root.Chart.Name }}
{{- end -}}
