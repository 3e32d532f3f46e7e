import type { Section } from '../section.ts';

/** Options of the run command about transport, proxy, audit and authorization. */
export const proxyOptions = [
  {
    source: 'run spec §4 proxy and transport',
    says: {
      'run.option.strict-protocol-validation': '--strict-protocol-validation is a boolean, false by default',
      'run.option.strict-protocol-validation-400': 'with strict validation an unknown MCP-Protocol-Version answers 400',
      'run.option.strict-protocol-validation-absent':
        'with strict validation a missing MCP-Protocol-Version is accepted',
      'run.option.strict-protocol-validation-off': 'without strict validation any MCP-Protocol-Version is accepted',
    },
  },
  {
    source: 'run spec §4 proxy and transport',
    says: {
      'run.option.transport': '--transport takes sse, streamable-http or stdio',
      'run.option.host': '--host is a string and the address the HTTP proxy listens on',
      'run.option.host-default': '--host is 127.0.0.1 when it is not given',
      'run.option.host-ip-or-name': '--host takes an IP address or a host name',
      'run.option.proxy-port': '--proxy-port is an integer and the host port of the HTTP proxy',
    },
  },
  {
    source: 'run spec §4 proxy and transport',
    says: {
      'run.option.proxy-mode': '--proxy-mode takes streamable-http or sse for stdio servers',
      'run.option.proxy-mode-sse-deprecated': 'the proxy mode sse is deprecated',
      'run.option.endpoint-prefix': '--endpoint-prefix is prepended to SSE endpoint URLs',
      'run.option.trust-proxy-headers': '--trust-proxy-headers is a boolean, false by default',
      'run.option.trust-proxy-headers-which':
        '--trust-proxy-headers trusts X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Port and X-Forwarded-Prefix',
      'run.option.proxy-mode-default': '--proxy-mode is streamable-http by default',
      'run.option.target-host': '--target-host is a string, 127.0.0.1 by default, for SSE and streamable HTTP only',
      'run.option.target-port':
        '--target-port is an integer and the port the container exposes, for SSE and streamable HTTP only',
      'run.option.allowed-origins':
        '--allowed-origins is repeatable and an exact-match allow-list for the Origin header',
      'run.option.allowed-origins-loopback': 'a loopback bind derives a default Origin allow-list',
      'run.option.allowed-origins-warning': 'a non-loopback bind without --allowed-origins logs a warning',
      'run.option.session-ttl': '--session-ttl is a duration of inactivity, 2h by default',
      'run.option.session-ttl-zero': '--session-ttl of zero means the default',
      'run.option.stateless': '--stateless is a boolean, false by default',
      'run.option.stateless-post-only': '--stateless declares a POST-only server without SSE',
      'run.option.webhook-config': '--webhook-config is the path of a webhook configuration file',
      'run.option.webhook-config-merged': '--webhook-config is repeatable and the files are merged',
      'run.option.tools': '--tools takes comma-separated tool names to expose',
      'run.option.tools-override':
        '--tools-override is the path of a JSON file that overrides tool names and descriptions',
    },
  },
  {
    source: 'run spec §4 audit and authorization',
    says: {
      'run.option.enable-audit':
        '--enable-audit is a boolean, false by default, and audits with the default configuration',
      'run.option.audit-config': '--audit-config is the path of an audit configuration file',
      'run.option.authz-config': '--authz-config is the path of an authorization configuration file',
    },
  },
] as const satisfies readonly Section[];
