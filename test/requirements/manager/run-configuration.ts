import type { Section } from '../section.ts';

/** The exported run configuration, field by field. */
export const runConfiguration = [
  {
    source: 'manager spec §2 exported run configuration',
    says: {
      'manager.export.allow-docker-gateway': 'exported run configuration: allow_docker_gateway is a boolean',
      'manager.export.debug': 'exported run configuration: debug is a boolean',
      'manager.export.isolate-network': 'exported run configuration: isolate_network is a boolean',
      'manager.export.stateless': 'exported run configuration: stateless is a boolean',
      'manager.export.strict-protocol-validation':
        'exported run configuration: strict_protocol_validation is a boolean',
      'manager.export.trust-proxy-headers': 'exported run configuration: trust_proxy_headers is a boolean',
      'manager.export.allowed-origins': 'exported run configuration: allowed_origins is string[]',
      'manager.export.cmd-args': 'exported run configuration: cmd_args is string[]',
      'manager.export.publish': 'exported run configuration: publish is string[]',
      'manager.export.secrets': 'exported run configuration: secrets is string[]',
      'manager.export.tools-filter': 'exported run configuration: tools_filter is string[]',
      'manager.export.volumes': 'exported run configuration: volumes is string[]',
      'manager.export.audit-config-path': 'exported run configuration: audit_config_path is a string',
      'manager.export.authz-config-path': 'exported run configuration: authz_config_path is a string',
      'manager.export.base-name': 'exported run configuration: base_name is a string',
      'manager.export.container-name': 'exported run configuration: container_name is a string',
      'manager.export.endpoint-prefix': 'exported run configuration: endpoint_prefix is a string',
      'manager.export.env-file-dir': 'exported run configuration: env_file_dir is a string',
      'manager.export.group': 'exported run configuration: group is a string',
      'manager.export.host': 'exported run configuration: host is a string',
      'manager.export.image': 'exported run configuration: image is a string',
      'manager.export.jwks-auth-token-file': 'exported run configuration: jwks_auth_token_file is a string',
      'manager.export.k8s-pod-template-patch': 'exported run configuration: k8s_pod_template_patch is a string',
      'manager.export.name': 'exported run configuration: name is a string',
      'manager.export.permission-profile-name-or-path':
        'exported run configuration: permission_profile_name_or_path is a string',
      'manager.export.rate-limit-namespace': 'exported run configuration: rate_limit_namespace is a string',
      'manager.export.registry-api-url': 'exported run configuration: registry_api_url is a string',
      'manager.export.registry-server-name': 'exported run configuration: registry_server_name is a string',
      'manager.export.registry-url': 'exported run configuration: registry_url is a string',
      'manager.export.remote-url': 'exported run configuration: remote_url is a string',
      'manager.export.schema-version': 'exported run configuration: schema_version is a string',
      'manager.export.target-host': 'exported run configuration: target_host is a string',
      'manager.export.tool-ca-bundle': 'exported run configuration: tool_ca_bundle is a string',
      'manager.export.container-labels': 'exported run configuration: container_labels is a string map',
      'manager.export.env-vars': 'exported run configuration: env_vars is a string map',
      'manager.export.mcpserver-generation': 'exported run configuration: mcpserver_generation is an integer',
      'manager.export.port': 'exported run configuration: port is an integer',
      'manager.export.target-port': 'exported run configuration: target_port is an integer',
      'manager.export.transport': 'exported run configuration: transport is a string such as stdio',
      'manager.export.proxy-mode': 'exported run configuration: proxy_mode is a string such as sse',
      'manager.export.session-ttl': 'exported run configuration: session_ttl is a duration string such as 2h',
      'manager.export.tool-ca-bundle-meaning':
        'tool_ca_bundle is the path of the CA bundle for the HTTP operations of the service itself',
      'manager.export.middleware-configs':
        'middleware_configs and additional_middleware_configs list objects of parameters and type',
      'manager.export.audit-config-strings': 'audit_config.component and audit_config.logFile are strings',
      'manager.export.audit-config-flags':
        'audit_config has the booleans detectApplicationErrors, enabled, includeRequestData and includeResponseData',
      'manager.export.audit-config-lists': 'audit_config.eventTypes and audit_config.excludeEventTypes are string[]',
      'manager.export.audit-config-numbers':
        'audit_config.maxDataSize and audit_config.maxDelegationDepth are integers',
      'manager.export.authz-config': 'authz_config holds type and version',
      'manager.export.aws-sts-config-strings':
        'aws_sts_config has the strings fallback_role_arn, region, role_claim, service, session_name_claim and subject_provider_name',
      'manager.export.aws-sts-config-session-duration': 'aws_sts_config.session_duration is an integer',
      'manager.export.aws-sts-config-role-mappings':
        'aws_sts_config.role_mappings lists objects of claim, matcher, integer priority and role_arn',
      'manager.export.header-forward':
        'header_forward holds the string maps add_headers_from_secret and add_plaintext_headers',
      'manager.export.ignore-config': 'ignore_config holds the booleans loadGlobal and printOverlays',
      'manager.export.mutating-webhooks': 'mutating_webhooks is Webhook[]',
      'manager.export.validating-webhooks': 'validating_webhooks is Webhook[]',
      'manager.export.oidc-config-strings':
        'oidc_config has the strings audience, authTokenFile, cacertPath, clientID, clientSecret, introspectionURL, issuer, jwksurl and resourceURL',
      'manager.export.oidc-config-flags': 'oidc_config.allowPrivateIP and oidc_config.insecureAllowHTTP are booleans',
      'manager.export.oidc-config-scopes': 'oidc_config.scopes is string[]',
      'manager.export.rate-limit-config': 'rate_limit_config holds perUser and shared as Bucket',
      'manager.export.rate-limit-config-tools':
        'rate_limit_config.tools lists objects of name, perUser Bucket and shared Bucket',
      'manager.export.remote-auth-config': 'remote_auth_config is a RemoteAuth',
      'manager.export.runtime-config': 'runtime_config is a RuntimeConfig',
      'manager.export.scaling-config-backend-replicas': 'scaling_config.backend_replicas is an integer',
      'manager.export.scaling-config-session-redis':
        'scaling_config.session_redis holds address, integer db and key_prefix',
      'manager.export.telemetry-config-strings':
        'telemetry_config has the strings caCertPath, endpoint, samplingRate, serviceName and serviceVersion',
      'manager.export.telemetry-config-maps':
        'telemetry_config.customAttributes and telemetry_config.headers are string maps',
      'manager.export.telemetry-config-flags':
        'telemetry_config has the booleans enablePrometheusMetricsPath, insecure, metricsEnabled, tracingEnabled and useLegacyAttributes',
      'manager.export.telemetry-config-environment-variables': 'telemetry_config.environmentVariables is string[]',
      'manager.export.token-exchange-config-strings':
        'token_exchange_config has the strings audience, client_id, client_secret, external_token_header_name, header_strategy, subject_token_type and token_url',
      'manager.export.token-exchange-config-scopes': 'token_exchange_config.scopes is string[]',
      'manager.export.tools-override': 'tools_override maps a tool to description and name',
      'manager.export.upstream-swap-config':
        'upstream_swap_config holds custom_header_name, header_strategy and provider_name',
      'manager.export.embedded-auth-server-config': 'embedded_auth_server_config is an EmbeddedAuth',
    },
  },
  {
    source: 'manager spec §2 Bucket',
    says: {
      'manager.bucket.max-tokens': 'Bucket.maxTokens is an integer',
      'manager.bucket.refill-period': 'Bucket.refillPeriod is an object',
    },
  },
  {
    source: 'manager spec §2 Webhook',
    says: {
      'manager.webhook.failure-policy': 'Webhook.failure_policy is a string such as fail',
      'manager.webhook.strings': 'Webhook.hmac_secret_ref, Webhook.name and Webhook.url are strings',
      'manager.webhook.timeout': 'Webhook.timeout is an integer',
      'manager.webhook.tls-paths':
        'Webhook.tls_config has the strings ca_bundle_path, client_cert_path and client_key_path',
      'manager.webhook.tls-insecure-skip-verify': 'Webhook.tls_config.insecure_skip_verify is a boolean',
    },
  },
  {
    source: 'manager spec §2 RemoteAuth',
    says: {
      'manager.remote-auth.endpoints':
        'RemoteAuth has the strings authorize_url, issuer, resource, scope_param_name and token_url',
      'manager.remote-auth.credentials':
        'RemoteAuth has the strings bearer_token, bearer_token_file, client_id, client_secret and client_secret_file',
      'manager.remote-auth.cached-client':
        'RemoteAuth has the strings cached_cimd_client_id, cached_client_id, cached_client_secret_ref, cached_reg_client_uri and cached_reg_token_ref',
      'manager.remote-auth.cached-token':
        'RemoteAuth has the strings cached_refresh_token_ref, cached_secret_expiry, cached_token_auth_method and cached_token_expiry',
      'manager.remote-auth.ports': 'RemoteAuth.cached_dcr_callback_port and RemoteAuth.callback_port are integers',
      'manager.remote-auth.oauth-params': 'RemoteAuth.oauth_params is a string map',
      'manager.remote-auth.scopes': 'RemoteAuth.scopes is string[]',
      'manager.remote-auth.flags': 'RemoteAuth.skip_browser and RemoteAuth.use_pkce are booleans',
      'manager.remote-auth.timeout': 'RemoteAuth.timeout is a duration string such as 5m',
    },
  },
  {
    source: 'manager spec §2 EmbeddedAuth',
    says: {
      'manager.embedded-auth.allowed-audiences': 'EmbeddedAuth.allowed_audiences is string[]',
      'manager.embedded-auth.baseline-client-scopes': 'EmbeddedAuth.baseline_client_scopes is string[]',
      'manager.embedded-auth.hmac-secret-files': 'EmbeddedAuth.hmac_secret_files is string[]',
      'manager.embedded-auth.scopes-supported': 'EmbeddedAuth.scopes_supported is string[]',
      'manager.embedded-auth.authorization-endpoint-base-url':
        'EmbeddedAuth.authorization_endpoint_base_url is a string',
      'manager.embedded-auth.delegation-token-lifespan': 'EmbeddedAuth.delegation_token_lifespan is a string',
      'manager.embedded-auth.issuer': 'EmbeddedAuth.issuer is a string',
      'manager.embedded-auth.schema-version': 'EmbeddedAuth.schema_version is a string',
      'manager.embedded-auth.disable-upstream-token-injection':
        'EmbeddedAuth.disable_upstream_token_injection is a boolean',
      'manager.embedded-auth.insecure-allow-http': 'EmbeddedAuth.insecure_allow_http is a boolean',
      'manager.embedded-auth.cimd':
        'EmbeddedAuth.cimd holds cache_fallback_ttl as a duration such as 5m, integer cache_max_size and boolean enabled',
      'manager.embedded-auth.signing-key-config':
        'EmbeddedAuth.signing_key_config holds fallback_key_files as string[], key_dir and signing_key_file',
      'manager.embedded-auth.storage-type': 'EmbeddedAuth.storage.type is a string',
      'manager.embedded-auth.storage-redis-strings':
        'storage.redis_config has the strings addr, auth_type, dial_timeout, key_prefix, read_timeout and write_timeout',
      'manager.embedded-auth.storage-redis-acl':
        'storage.redis_config.acl_user_config holds password_env_var and username_env_var',
      'manager.embedded-auth.storage-redis-cluster-mode': 'storage.redis_config.cluster_mode is a boolean',
      'manager.embedded-auth.storage-redis-sentinel':
        'storage.redis_config.sentinel_config holds integer db, master_name and sentinel_addrs as string[]',
      'manager.embedded-auth.storage-redis-tls':
        'storage.redis_config.tls and storage.redis_config.sentinel_tls hold ca_cert_file and boolean insecure_skip_verify',
      'manager.embedded-auth.token-lifespans':
        'EmbeddedAuth.token_lifespans holds access_token_lifespan, auth_code_lifespan and refresh_token_lifespan',
      'manager.embedded-auth.upstreams': 'EmbeddedAuth.upstreams is Upstream[]',
      'manager.upstream.name-and-type': 'Upstream.name is a string and Upstream.type a string such as oidc',
      'manager.upstream.oauth2-strings':
        'oauth2_config has the strings authorization_endpoint, client_id, client_secret_env_var, client_secret_file, redirect_uri and token_endpoint',
      'manager.upstream.oauth2-flags':
        'oauth2_config.allow_private_ips and oauth2_config.insecure_allow_http are booleans',
      'manager.upstream.oauth2-authorization-params':
        'oauth2_config.additional_authorization_params is a string map and oauth2_config.scopes is string[]',
      'manager.upstream.oauth2-dcr-config':
        'oauth2_config.dcr_config holds discovery_url, initial_access_token_env_var, initial_access_token_file, registration_endpoint, software_id and software_statement',
      'manager.upstream.oauth2-identity-from-token':
        'oauth2_config.identity_from_token holds email_path, name_path and subject_path',
      'manager.upstream.oauth2-token-response-mapping':
        'oauth2_config.token_response_mapping holds access_token_path, expires_in_path, refresh_token_path and scope_path',
      'manager.upstream.oauth2-userinfo': 'oauth2_config.userinfo is a UserInfo',
      'manager.upstream.oidc-strings':
        'oidc_config of an upstream has the strings client_id, client_secret_env_var, client_secret_file, issuer_url, redirect_uri and subject_claim',
      'manager.upstream.oidc-flags':
        'oidc_config of an upstream has the booleans allow_private_ips and insecure_allow_http',
      'manager.upstream.oidc-authorization-params':
        'oidc_config of an upstream has additional_authorization_params as a string map and scopes as string[]',
      'manager.upstream.oidc-userinfo-override': 'oidc_config.userinfo_override is a UserInfo',
      'manager.user-info.fields': 'UserInfo holds additional_headers as a string map, endpoint_url and http_method',
      'manager.user-info.field-mapping':
        'UserInfo.field_mapping holds email_fields, name_fields and subject_fields as string[]',
    },
  },
] as const satisfies readonly Section[];
