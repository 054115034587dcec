{{- define "brownout.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "brownout.account" -}}
{{- .Values.serviceAccount.name | default (include "brownout.name" .) -}}
{{- end -}}

{{- define "brownout.labels" -}}
app.kubernetes.io/name: brownout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
