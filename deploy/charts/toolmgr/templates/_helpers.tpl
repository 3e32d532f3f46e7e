{{- define "toolmgr.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* Made of the release, so that two releases fit into one namespace. */}}
{{- define "toolmgr.fullname" -}}
{{- $name := include "toolmgr.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- /* Objects of the cluster: releases of two namespaces may have one name. */}}
{{- define "toolmgr.clusterName" -}}
{{ printf "%s-%s" .Release.Namespace (include "toolmgr.fullname" .) }}
{{- end }}

{{- define "toolmgr.selector" -}}
app.kubernetes.io/name: {{ include "toolmgr.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "toolmgr.labels" -}}
{{ include "toolmgr.selector" . }}
app.kubernetes.io/part-of: toolmgr
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "toolmgr.serviceAccount" -}}
{{- if .Values.operator.serviceAccount.create -}}
{{ default (include "toolmgr.fullname" .) .Values.operator.serviceAccount.name }}
{{- else -}}
{{ required "operator.serviceAccount.name is needed when operator.serviceAccount.create is false" .Values.operator.serviceAccount.name }}
{{- end -}}
{{- end }}

{{- define "toolmgr.image" -}}
{{- with .Values.operator.image -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest }}
{{- else -}}
{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "toolmgr.namespaces" -}}
{{- if eq .Values.operator.rbac.scope "namespace" -}}
{{ join "," (default (list .Release.Namespace) .Values.operator.rbac.allowedNamespaces) }}
{{- end -}}
{{- end }}

{{- define "toolmgr.pullSecretNames" -}}
{{- $names := list -}}
{{- range .Values.operator.defaultImagePullSecrets -}}
{{- $names = append $names (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) -}}
{{- end -}}
{{ join "," $names }}
{{- end }}

{{- define "toolmgr.redis" -}}
{{- $own := .Values.operator.defaultRedis -}}
{{- $global := default dict (default dict .Values.global).redis -}}
{{- if $own.addr -}}
{{ dict "addr" $own.addr "secret" $own.existingSecret "key" $own.existingSecretKey | toJson }}
{{- else if $global.host -}}
{{ dict "addr" (printf "%s:%v" $global.host (default 6379 $global.port)) "secret" (default "" $global.existingSecret) "key" $own.existingSecretKey | toJson }}
{{- else -}}
{}
{{- end -}}
{{- end }}

{{- /* The variables that the chart sets, as a list. */}}
{{- define "toolmgr.env" -}}
{{- $redis := include "toolmgr.redis" . | fromJson -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: WATCH_NAMESPACE
  value: {{ include "toolmgr.namespaces" . | quote }}
- name: TOOLMGR_IMAGE
  value: {{ default (include "toolmgr.image" .) .Values.operator.vmcpImage | quote }}
- name: TOOLMGR_LEASE_NAME
  value: {{ include "toolmgr.fullname" . }}
- name: NODE_OPTIONS
  value: {{ printf "--max-old-space-size=%v" .Values.operator.maxOldSpaceMiB | quote }}
{{- if .Values.operator.openshift }}
- name: TOOLMGR_OPENSHIFT
  value: 'true'
{{- end }}
{{- with include "toolmgr.pullSecretNames" . }}
- name: TOOLMGR_DEFAULT_IMAGE_PULL_SECRETS
  value: {{ . | quote }}
{{- end }}
{{- with $redis.addr }}
- name: TOOLMGR_DEFAULT_REDIS_ADDR
  value: {{ . | quote }}
{{- end }}
{{- if $redis.secret }}
- name: TOOLMGR_DEFAULT_REDIS_SECRET_NAME
  value: {{ $redis.secret | quote }}
- name: TOOLMGR_DEFAULT_REDIS_SECRET_KEY
  value: {{ $redis.key | quote }}
{{- end }}
{{- end }}

{{- /* Kinds of toolmgr.dev; the argument is appended to each, such as /status. */}}
{{- define "toolmgr.kinds" -}}
{{- $kinds := list }}
{{- range list "embeddingservers" "mcpauthzconfigs" "mcpexternalauthconfigs" "mcpgroups" "mcpoidcconfigs" "mcpremoteproxies" "mcpserverentries" "mcpservers" "mcptelemetryconfigs" "mcptoolconfigs" "virtualmcpcompositetooldefinitions" "virtualmcpservers" }}
{{- $kinds = append $kinds (printf "%s%s" . $) }}
{{- end -}}
[{{ join ", " $kinds }}]
{{- end }}
