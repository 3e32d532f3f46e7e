import type { Section } from '../section.ts';

/** What the manager API says about a workload. */
export const workloads = [
  {
    source: 'manager spec §2 workload upgrade check result',
    says: {
      'manager.upgrade-check.candidate-image': 'upgrade check result: candidate_image is a string',
      'manager.upgrade-check.current-image': 'upgrade check result: current_image is a string',
      'manager.upgrade-check.reason': 'upgrade check result: reason is a string',
      'manager.upgrade-check.registry-server': 'upgrade check result: registry_server is a string',
      'manager.upgrade-check.workload-name': 'upgrade check result: workload_name is a string',
      'manager.upgrade-check.status': 'the upgrade check status is a string such as up-to-date',
      'manager.upgrade-check.config-drift-permission-profile':
        'config_drift.permission_profile holds the strings from and to',
      'manager.upgrade-check.config-drift-transport': 'config_drift.transport holds the strings from and to',
      'manager.upgrade-check.env-var-drift-added': 'env_var_drift.added is EnvVar[]',
      'manager.upgrade-check.env-var-drift-removed': 'env_var_drift.removed is EnvVar[]',
    },
  },
  {
    source: 'manager spec §2 workload summary',
    says: {
      'manager.workload-summary.created-at': 'workload summary: created_at is a string',
      'manager.workload-summary.group': 'workload summary: group is a string',
      'manager.workload-summary.name': 'workload summary: name is a string',
      'manager.workload-summary.package': 'workload summary: package is a string',
      'manager.workload-summary.proxy-mode': 'workload summary: proxy_mode is a string',
      'manager.workload-summary.started-at': 'workload summary: started_at is a string',
      'manager.workload-summary.status-context': 'workload summary: status_context is a string',
      'manager.workload-summary.url': 'workload summary: url is a string',
      'manager.workload-summary.labels': 'workload summary: labels is a string map',
      'manager.workload-summary.port': 'workload summary: port is an integer',
      'manager.workload-summary.remote': 'workload summary: remote is a boolean',
      'manager.workload-summary.tools': 'workload summary: tools is string[]',
      'manager.workload-summary.status': 'workload summary: status is a string such as running',
      'manager.workload-summary.transport-type': 'workload summary: transport_type is a string such as stdio',
    },
  },
  {
    source: 'manager spec §2 workload detail',
    says: {
      'manager.workload-detail.allow-docker-gateway': 'workload detail: allow_docker_gateway is a boolean',
      'manager.workload-detail.network-isolation': 'workload detail: network_isolation is a boolean',
      'manager.workload-detail.trust-proxy-headers': 'workload detail: trust_proxy_headers is a boolean',
      'manager.workload-detail.authz-config': 'workload detail: authz_config is a string',
      'manager.workload-detail.group': 'workload detail: group is a string',
      'manager.workload-detail.host': 'workload detail: host is a string',
      'manager.workload-detail.image': 'workload detail: image is a string',
      'manager.workload-detail.name': 'workload detail: name is a string',
      'manager.workload-detail.proxy-mode': 'workload detail: proxy_mode is a string',
      'manager.workload-detail.registry': 'workload detail: registry is a string',
      'manager.workload-detail.server': 'workload detail: server is a string',
      'manager.workload-detail.transport': 'workload detail: transport is a string',
      'manager.workload-detail.url': 'workload detail: url is a string',
      'manager.workload-detail.cmd-arguments': 'workload detail: cmd_arguments is string[]',
      'manager.workload-detail.tools': 'workload detail: tools is string[]',
      'manager.workload-detail.volumes': 'workload detail: volumes is string[]',
      'manager.workload-detail.env-vars': 'workload detail: env_vars is a string map',
      'manager.workload-detail.proxy-port': 'workload detail: proxy_port is an integer',
      'manager.workload-detail.target-port': 'workload detail: target_port is an integer',
      'manager.workload-detail.header-forward':
        'workload detail: header_forward holds the string maps add_headers_from_secret and add_plaintext_headers',
      'manager.workload-detail.headers': 'workload detail: headers is HeaderDef[]',
      'manager.workload-detail.oauth-config-strings':
        'workload detail: oauth_config has the strings authorize_url, client_id, issuer, resource and token_url',
      'manager.workload-detail.oauth-config-secrets':
        'workload detail: oauth_config.bearer_token and oauth_config.client_secret are SecretRef',
      'manager.workload-detail.oauth-config-callback-port': 'workload detail: oauth_config.callback_port is an integer',
      'manager.workload-detail.oauth-config-params':
        'workload detail: oauth_config.oauth_params is a string map and oauth_config.scopes is string[]',
      'manager.workload-detail.oauth-config-flags':
        'workload detail: oauth_config.skip_browser and oauth_config.use_pkce are booleans',
      'manager.workload-detail.oidc':
        'workload detail: oidc has the strings audience, client_id, client_secret, introspection_url, issuer and jwks_url, and scopes as string[]',
      'manager.workload-detail.permission-profile': 'workload detail: permission_profile is a Permissions',
      'manager.workload-detail.runtime-config': 'workload detail: runtime_config is a RuntimeConfig',
      'manager.workload-detail.secrets': 'workload detail: secrets is SecretRef[]',
      'manager.workload-detail.tools-override': 'workload detail: tools_override maps a tool to description and name',
      'manager.secret-ref.fields': 'SecretRef holds name and target',
      'manager.runtime-config.lists': 'RuntimeConfig.additional_packages and RuntimeConfig.build_with are string[]',
      'manager.runtime-config.builder-image': 'RuntimeConfig.builder_image is a string',
      'manager.runtime-config.runtime-env': 'RuntimeConfig.runtime_env is a string map',
    },
  },
  {
    source: 'manager spec §3 states and transitions',
    says: {
      'manager.state.upgrade-check-up-to-date': 'up-to-date is a value of the upgrade check status',
      'manager.state.skill-installed': 'installed is a value of the InstalledSkill status',
      'manager.state.skill-scopes': 'user and project are the two values of the InstalledSkill scope',
      'manager.state.upgrade-outcome-upgraded': 'upgraded is a value of the UpgradeOutcome status',
      'manager.state.failure-registry-unreachable':
        'registry-unreachable is a value of the sync and upgrade failure reason',
    },
  },
  {
    source: 'manager spec §3 states and transitions',
    says: {
      'manager.state.workload-running': 'running is a value of the workload status',
      'manager.state.stopped-workloads-exist': 'stopped workloads exist and are listed only with the all query flag',
    },
  },
] as const satisfies readonly Section[];
