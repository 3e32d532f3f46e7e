import { OPERATOR_VARIABLES } from '../../hosts/operator/settings.ts';

/** Variables with a common purpose. */
export interface VariableGroup {
  readonly title: string;
  readonly text: string;
  /** Meaning by name. A name that ends in `*` stands for all names that begin so. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Every environment variable that the product reads, and those that it sets for its own programs. */
export const ENVIRONMENT: readonly VariableGroup[] = [
  {
    title: 'Commands',
    text: 'Read by the commands of the terminal.',
    variables: {
      TOOLMGR_URL: 'endpoint of `tools` and `call`, in place of `--url`',
      TOOLMGR_DEBUG: 'with any value, an error is printed with its code and stack',
      TOOLMGR_HTTP_CLIENT:
        'client of HTTP backends: `own` (default) or `undici`; the key `httpClient` of a vmcp file wins',
      TOOLMGR_CLIENT_METADATA_URL:
        'https URL of a client ID metadata document, which identifies toolmgr at authorization servers when it logs in at a remote server',
      NO_COLOR: 'with any value, nothing is coloured (https://no-color.org)',
      FORCE_COLOR: '`0` or `false` is the same as `NO_COLOR`; any other value colours also what is not for a terminal',
      TERM: '`dumb` has the same effect as `NO_COLOR`',
      TERM_PROGRAM: 'set by some terminals; says which characters they can show while backends start',
      WT_SESSION: 'set by Windows Terminal, for the same',
      PORT: 'port of `npm start` in a clone; default 4483',
    },
  },
  {
    title: 'Folders',
    text: 'Where files are kept. Relative paths in `XDG_*` variables are ignored, as the XDG specification demands.',
    variables: {
      TOOLMGR_STATE_DIR: 'folder of the state of workloads and running gateways; default `toolmgr` in `XDG_STATE_HOME`',
      TOOLMGR_INSTALLATION:
        'id of this installation in the labels of containers, for one without a lasting state folder; default: a random one, kept there',
      XDG_STATE_HOME: 'folder of states; default `~/.local/state`',
      XDG_CONFIG_HOME: 'folder of settings: `toolmgr/config.yaml`, and files of clients; default `~/.config`',
      XDG_DATA_HOME: 'folder of data: encrypted secrets, built skills; default `~/.local/share`',
      XDG_CACHE_HOME: 'folder of caches: compiled code, lists of registries, programs of packages; default `~/.cache`',
      XDG_RUNTIME_DIR: 'folder of sockets of the user: Podman, and logins of container registries',
      HOME: 'home folder of the user',
      USERPROFILE: 'home folder on Windows',
      APPDATA: 'folder of settings on Windows; files of clients are there',
      TMPDIR: 'folder of temporary files; on macOS, also of the socket of Podman',
      PATH: 'where programs are looked for: of stdio servers, npx, uvx, go, container engines',
    },
  },
  {
    title: 'Secrets',
    text: 'Values of these variables are never logged, and programs of workloads do not get them.',
    variables: {
      'TOOLMGR_SECRET_*':
        '`TOOLMGR_SECRET_NAME` is the secret `NAME` for `run --secret NAME,target=VARIABLE`, when the store of secrets does not have it',
      TOOLMGR_DISABLE_ENV_FALLBACK: '`true` switches `TOOLMGR_SECRET_*` off: secrets come only from the store',
      TOOLMGR_SECRETS_PROVIDER:
        'store of secrets for one command, in place of `secret setup`: `encrypted` or `environment`',
      TOOLMGR_SECRETS_PASSWORD: 'password of the encrypted secrets, where no keyring and no terminal can give it',
      TOOLMGR_SECRETS_DIR: 'folder of secrets in files: `{name, key}` of a vmcp file is read from `NAME/KEY` below it',
      TOOLMGR_SESSION_REDIS_PASSWORD: 'password of the Redis server of `sessionStorage`',
      TOOLMGR_STATE_KEY:
        'key that encrypts the state of calls that wait for input, at least 32 bytes; equal in all replicas, so that each can continue the calls of another',
      TOOLMGR_SIGNING_KEY_PASSWORD: 'password of the private key of `skill sign --key`',
      TOOLMGR_OIDC_CLIENT_SECRET: 'client secret of `serve --oidc-*`; also set by the operator in its pods',
      EMBEDDING_API_KEY: 'key of the service of embeddings of the optimizer (`optimizer/embed-openai`)',
    },
  },
  {
    title: 'Containers and packages',
    text: 'Read by workloads in containers, and when an image of a package is built.',
    variables: {
      TOOLMGR_RUNTIME: '`process` or `container`, in place of `--runtime`',
      TOOLMGR_DOCKER_SOCKET: 'path of the socket of Docker, before all other places',
      TOOLMGR_PODMAN_SOCKET: 'path of the socket of Podman, before all other places',
      DOCKER_HOST: 'address of the engine, as Docker reads it',
      DOCKER_CONFIG: 'folder with the `config.json` that has logins of container registries',
      REGISTRY_AUTH_FILE: 'file with logins of container registries, as Podman reads it',
      TOOLMGR_NETWORK_IMAGE:
        'image with Node 20 or later for the network of isolated containers, where one cannot be made of this Node',
      NPM_CONFIG_USERCONFIG: 'npm settings file, passed to the build of an image',
      NPM_CONFIG_CACHE: 'cache of npm, where the programs of packages are found without a start of npx',
      BUN_INSTALL_CACHE_DIR: 'cache of Bun, for the same',
      UV_CACHE_DIR: 'cache of uv, for the same',
      GOMODCACHE: 'cache of Go modules',
      GOPATH: 'folder of Go, whose `pkg/mod` is the cache of modules without `GOMODCACHE`; default `~/go`',
      UV_DEFAULT_INDEX: 'index of Python packages, passed to the build of an image',
      UV_INDEX: 'more indexes of Python packages',
      UV_INDEX_URL: 'older name of `UV_DEFAULT_INDEX`',
      UV_EXTRA_INDEX_URL: 'older name of `UV_INDEX`',
      PIP_CONFIG_FILE: 'settings file of pip, passed to the build of an image',
      PIP_INDEX_URL: 'index of Python packages of pip',
      PIP_EXTRA_INDEX_URL: 'more indexes of pip',
      GOENV: 'settings file of Go; `off` for none',
      SOURCE_DATE_EPOCH: 'time of built skills in seconds, so that equal folders give equal bytes',
    },
  },
  {
    title: 'Network',
    text: 'For requests to backends, registries and identity providers. Lower case wins where both are set. See [networks](../guides/networks.md).',
    variables: {
      HTTP_PROXY: 'proxy for `http:` URLs',
      HTTPS_PROXY: 'proxy for `https:` URLs',
      ALL_PROXY: 'proxy for both, where the other two are not set',
      NO_PROXY: 'names, addresses and networks that are reached without a proxy',
      NODE_EXTRA_CA_CERTS: 'PEM file with more certificate authorities; read by Node at its start',
      AWS_ENDPOINT_URL_STS:
        'address of AWS STS for the strategy `aws_sts`; `AWS_REGION` and the other variables of the AWS SDK apply too',
    },
  },
  {
    title: 'Telemetry',
    text: 'Read by the OpenTelemetry libraries. The section `telemetry` of a vmcp file wins.',
    variables: {
      OTEL_EXPORTER_OTLP_HEADERS: 'headers of every export, such as credentials',
      OTEL_RESOURCE_ATTRIBUTES: 'attributes of the resource',
    },
  },
  {
    title: 'Kubernetes',
    text: 'Read by `toolmgr operator` and by gateways in pods; the operator and Kubernetes set those of the pods. The default is in parentheses.',
    variables: {
      ...OPERATOR_VARIABLES,
      KUBECONFIG: 'file with the cluster and the user, outside of a cluster (`~/.kube/config`)',
      KUBERNETES_SERVICE_HOST: 'address of the API server; set by Kubernetes in each pod',
      KUBERNETES_SERVICE_PORT: 'port of the API server; set by Kubernetes in each pod',
      TOOLMGR_CONFIG_CHECKSUM:
        'checksum of the configuration of a pod; set by the operator, so that its report is of the current file',
      TOOLMGR_BEARER_TOKEN: 'token of a backend, set by the operator from a secret',
      TOOLMGR_HEADER_INJECTION_VALUE:
        'header value of the strategy `header_injection`, set by the operator from a secret',
      TOOLMGR_TOKEN_EXCHANGE_CLIENT_SECRET:
        'client secret of the strategy `token_exchange`, set by the operator from a secret',
      TOOLMGR_OBO_CLIENT_SECRET: 'client secret of the strategy `obo`, set by the operator from a secret',
      TOOLMGR_XAA_IDP_CLIENT_SECRET:
        'client secret of the strategy `xaa` at the identity provider, set by the operator from a secret',
      TOOLMGR_XAA_TARGET_CLIENT_SECRET:
        'client secret of the strategy `xaa` at the target, set by the operator from a secret',
      TOOLMGR_OTEL_HEADER: 'beginning of names of telemetry headers, set by the operator from secrets',
    },
  },
  {
    title: 'Places of Node',
    text: 'Read only when the command is started with a Node that is too old: a newer one is looked for in the folders of version managers.',
    variables: {
      NVM_DIR: 'folder of nvm; default `~/.nvm`',
      NVM_HOME: 'folder of nvm on Windows',
      FNM_DIR: 'folder of fnm; default below `XDG_DATA_HOME`',
      VOLTA_HOME: 'folder of Volta; default `~/.volta`',
      ASDF_DATA_DIR: 'folder of asdf; default `~/.asdf`',
      MISE_DATA_DIR: 'folder of mise; default below `XDG_DATA_HOME`',
    },
  },
  {
    title: 'Set by programs',
    text: 'Other programs and toolmgr itself set these. Do not set them.',
    variables: {
      TOOLMGR_RUN_ID: 'marks the containers and the proxy of one start of a workload',
      INIT_CWD: 'folder in which a script of npm was called; set by npm, and relative paths begin there in a clone',
      TOOLMGR_SERVED_FILES:
        'client files that the gateways above a program serve, set by `up`; a gateway that would serve one of them again refuses to start',
      SUDO_USER: 'set by sudo; `serve install` refuses to run with it',
    },
  },
  {
    title: 'Skills from Git',
    text: 'Tokens for repositories of skills over https. Each is sent to its host only.',
    variables: {
      GITHUB_TOKEN: 'token for `github.com`',
      GITLAB_TOKEN: 'token for `gitlab.com`',
      GIT_TOKEN:
        'token for another host that you name in a command; to one that a registry, a lock file or an agent names only with `GIT_TOKEN_HOST`',
      GIT_TOKEN_HOST: 'the one host that gets `GIT_TOKEN`, such as `git.example.com`',
    },
  },
];

/** Names in code that look like variables and are none. */
export const NO_VARIABLES: ReadonlySet<string> = new Set(['TOOLMGR_JSON', 'NAME']);

const READ =
  /\b\w*[eE]nv(?:ironment)?\??\.([A-Z][A-Z0-9_]+)\b|\b\w*[eE]nv(?:ironment)?\[['"]([A-Z][A-Z0-9_]+)['"]\]|\b(TOOLMGR_[A-Z0-9_]*[A-Z0-9_])\b|\.env\('([A-Z][A-Z0-9_]+)'\)|(?:Env|readOptionalSecretFrom\(\w+|VARIABLE|KEY) ?[=,:] ?'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/g;

/** Names of the variables that a source reads, found by how names are written in this repository. */
export function variablesIn(source: string): readonly string[] {
  const taken = [...source.matchAll(TAKEN)].flatMap(
    ([, members = '']) => members.match(/\b[A-Z][A-Z0-9_]{2,}\b/g) ?? [],
  );
  const read = [...source.matchAll(READ)].map(([, ...found]) => found.find((name) => name !== undefined) ?? '');
  return [...new Set([...read, ...taken])].filter((name) => !NO_VARIABLES.has(name)).sort();
}

/** Members taken out of an environment: `{ A, B = '' }: NodeJS.ProcessEnv`, `{ A } = process.env`. */
const TAKEN = /\{([^{}]*)\}(?:: NodeJS\.ProcessEnv| = (?:process\.)?env\b)/g;

/** Whether the table has a name. */
export function isDescribed(name: string): boolean {
  return ENVIRONMENT.some(({ variables }) =>
    Object.keys(variables).some((known) =>
      known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : known === name,
    ),
  );
}
