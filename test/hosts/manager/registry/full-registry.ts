/** An entry with every member of "ImageServer". */
export const FULL_IMAGE = {
  image: 'ghcr.io/org/notes:1.2.0',
  transport: 'streamable-http',
  title: 'Notes',
  description: 'Keeps notes',
  overview: 'A longer text',
  status: 'Active',
  tier: 'Community',
  tags: ['notes'],
  tools: ['add_note'],
  repository_url: 'https://github.com/org/notes',
  metadata: {
    kubernetes: {
      ...{ image: 'ghcr.io/org/notes:1.2.0', kind: 'MCPServer', name: 'notes', namespace: 'tools' },
      ...{ transport: 'streamable-http', uid: '6c9f' },
    },
    last_updated: '2026-11-01T00:00:00Z',
    stars: 5,
  },
  env_vars: [
    { name: 'NOTES_TOKEN', description: 'token', required: true, secret: true, default: 'none' },
    { name: 'NOTES_MODE', required: false, secret: false },
  ],
  proxy_port: 9000,
  target_port: 8080,
  stateless: true,
  custom_metadata: { any: { thing: [1] } },
  args: ['--verbose'],
  docker_tags: ['1.2.0'],
  permissions: {
    name: 'notes',
    network: {
      mode: 'bridge',
      inbound: { allow_host: ['notes.example.com'] },
      outbound: { allow_host: ['api.example.com'], allow_port: [443], insecure_allow_all: false },
    },
    privileged: false,
    read: ['/data'],
    write: ['/cache'],
  },
  provenance: {
    attestation: { predicate: { built: true }, predicate_type: 'https://slsa.dev/provenance/v1' },
    cert_issuer: 'https://token.actions.githubusercontent.com',
    repository_ref: 'refs/tags/v1.2.0',
    repository_uri: 'https://github.com/org/notes',
    runner_environment: 'github-hosted',
    signer_identity: '/.github/workflows/release.yml',
    sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  },
};

/** An entry with every member of "RemoteServer". */
export const FULL_REMOTE = {
  url: 'https://calendar.example.com/mcp',
  transport: 'streamable-http',
  title: 'Calendar',
  description: 'Keeps appointments',
  overview: 'A longer text',
  status: 'Active',
  tier: 'Official',
  tags: ['calendar'],
  tools: ['list_events'],
  repository_url: 'https://github.com/org/calendar',
  metadata: { stars: 7 },
  env_vars: [{ name: 'CALENDAR_ZONE', required: false, secret: false }],
  proxy_port: 9001,
  stateless: false,
  custom_metadata: { region: 'eu' },
  headers: [
    {
      ...{ name: 'X-Tenant', description: 'tenant', required: true, secret: false },
      ...{ default: 'main', choices: ['main', 'test'] },
    },
  ],
  oauth_config: {
    authorize_url: 'https://login.example.com/authorize',
    callback_port: 8085,
    client_id: 'calendar',
    issuer: 'https://login.example.com',
    oauth_params: { prompt: 'login' },
    resource: 'https://calendar.example.com/mcp',
    scopes: ['events'],
    token_url: 'https://login.example.com/token',
    use_pkce: true,
  },
};

/** A document in the form of the contract. */
export const FULL_DOCUMENT = {
  version: '2.0.0',
  last_updated: '2026-11-02T00:00:00Z',
  servers: {
    notes: FULL_IMAGE,
    package: { image: 'npx://@org/package@1.0.0', transport: 'stdio', description: 'A package' },
    unsafe: { image: '--privileged', transport: 'stdio' },
  },
  remote_servers: { calendar: FULL_REMOTE },
  groups: [
    {
      name: 'office',
      description: 'Servers of the office',
      servers: { mail: { image: 'example/mail:1', transport: 'stdio', description: 'Mail' } },
      remote_servers: { phone: { url: 'https://phone.example.com/mcp', transport: 'sse', description: 'Phone' } },
    },
  ],
};

/** A `server.json` with every member of "ServerRecord". */
export const FULL_RECORD = {
  name: 'io.github.org/files',
  title: 'Files',
  description: 'Reads files',
  version: '1.10.0',
  websiteUrl: 'https://files.example.com',
  icons: [{ src: 'https://files.example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' }],
  repository: { url: 'https://github.com/org/files', source: 'github', id: '42', subfolder: 'src/files' },
  packages: [
    {
      registryType: 'npm',
      registryBaseUrl: 'https://registry.npmjs.org',
      identifier: '@org/files',
      version: '1.10.0',
      fileSha256: 'fe333e598595000ae021bd27117db32ec69af6987f507ba7a63c90638ff633ce',
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      runtimeArguments: [
        { type: 'named', name: '--yes', isRequired: true, isRepeated: false, description: 'no question' },
      ],
      packageArguments: [
        {
          ...{ type: 'positional', valueHint: 'file_path', description: 'folder', isRequired: true, isSecret: false },
          ...{ format: 'filepath', default: '/data', placeholder: '/home/me', choices: ['/data', '/home'] },
          ...{ isRepeated: true },
        },
      ],
      environmentVariables: [
        {
          ...{ name: 'FILES_MODE', description: 'mode', value: '{mode}', isRequired: true, isSecret: false },
          variables: {
            mode: {
              ...{ description: 'mode', isRequired: false, isSecret: false, format: 'string', default: 'read' },
              ...{ placeholder: 'read', value: 'read', choices: ['read', 'write'] },
            },
          },
        },
      ],
    },
    {
      registryType: 'oci',
      identifier: 'ghcr.io/org/files:1.10.0',
      transport: {
        type: 'streamable-http',
        url: 'http://localhost:8080/mcp',
        headers: [{ name: 'X-Mode', value: '{mode}', variables: { mode: { default: 'read' } } }],
        variables: { mode: { default: 'read' } },
      },
    },
  ],
  remotes: [
    {
      type: 'streamable-http',
      url: 'https://files.example.com/{tenant}/mcp',
      headers: [{ name: 'X-Tenant', isRequired: false, choices: ['a', 'b'] }],
      variables: { tenant: { description: 'tenant', default: 'main' } },
    },
  ],
  _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { build: { number: 5 } } },
};

/** A skill with every member of "SkillRecord". */
export const FULL_SKILL = {
  namespace: 'io.github.org',
  name: 'review',
  title: 'Review',
  description: 'Reviews code',
  version: '1.0.0',
  status: 'active',
  license: 'Apache-2.0',
  compatibility: 'any client',
  allowedTools: ['read_file'],
  icons: [{ src: 'https://files.example.com/icon.png', label: 'Review', size: '48x48', type: 'image/png' }],
  packages: [
    {
      ...{ registryType: 'oci', identifier: 'ghcr.io/org/skills/review:1.0.0', digest: `sha256:${'a'.repeat(64)}` },
      ...{ mediaType: 'application/vnd.oci.image.index.v1+json', url: 'https://github.com/org/skills' },
      ...{ ref: 'v1.0.0', commit: 'b'.repeat(40), subfolder: 'review' },
    },
  ],
  repository: { type: 'git', url: 'https://github.com/org/skills' },
  metadata: { author: 'Ada' },
  _meta: { 'io.github.org': { any: true } },
};

/** Small records of one namespace, for pages. */
export function manyRecords(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `io.example/server-${String(at).padStart(4, '0')}`,
    description: at % 2 === 0 ? 'An even one' : 'An odd one',
    version: '1.0.0',
    packages: [{ registryType: 'npm', identifier: `server-${at}`, version: '1.0.0', transport: { type: 'stdio' } }],
  }));
}

/** Small skills, for pages. */
export function manySkills(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    namespace: at % 2 === 0 ? 'io.even' : 'io.odd',
    name: `skill-${String(at).padStart(4, '0')}`,
    description: at === 0 ? 'The first' : 'Another',
  }));
}
