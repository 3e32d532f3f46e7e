import type { PodReferences } from '@toolmgr/plugins/kit/kubernetes';
import { envName, volumeName } from './env-name.ts';
import type { ConfigText, Lookups, SecretKey } from './lookups.ts';
import type { SecretValue } from './related.ts';
import type { EnvVar, Volume, VolumeMount } from './resolution.ts';

/** Folder of the secrets that the vmcp file names by `{name, key}`. */
const SECRETS_DIR = '/etc/toolmgr/secrets';
const SECRETS_VOLUME = 'secrets';
/** Readable by the user and the group of the pod (`fsGroup`). */
const SECRET_MODE = 0o440;
const CA_MODE = 0o444;

/** Collects what the container needs beside its files, with hashes of all contents. */
export interface PodParts extends PodReferences {
  /** A file below the folder of secrets; returns what is known of the value, or why there is none. */
  secretFile(key: SecretKey, by: string): Promise<SecretValue | { readonly problem: string }>;
  result(): {
    readonly env: readonly EnvVar[];
    readonly volumes: readonly Volume[];
    readonly volumeMounts: readonly VolumeMount[];
  };
  /** Hashes of all contents by place. */
  contents(): Readonly<Record<string, string>>;
}

/** Creates empty parts. */
export function createPodParts(lookups: Lookups): PodParts {
  const env = new Map<string, EnvVar>();
  const files = new Map<string, SecretKey>();
  const bundles = new Map<string, { readonly volume: Volume; readonly mount: VolumeMount }>();
  const contents = new Map<string, string>();

  const fixedEnv: PodParts['fixedEnv'] = async (name, { name: secret, key }, by) => {
    const value = await lookups.secret({ name: secret, key }, by);
    if ('problem' in value) return value;
    env.set(name, { name, valueFrom: { secretKeyRef: { name: secret, key } } });
    contents.set(`env ${name}`, value.hash);
    return { name };
  };
  return {
    fixedEnv,
    secretEnv: (prefix, object, key, by) => fixedEnv(envName(prefix, object), key, by),
    async secretFile(key, by) {
      const value = await lookups.secret(key, by);
      if ('problem' in value) return value;
      const path = `${key.name}/${key.key}`;
      files.set(path, key);
      contents.set(`secret ${path}`, value.hash);
      return value;
    },
    async caFile(folder, { name: configMap, key }, by) {
      const found = await lookups.configMap({ name: configMap, key }, by);
      const problem = caProblem(found, configMap, key, by);
      if (problem !== undefined) return { problem };
      const name = volumeName('ca', folder.replace('ca-bundles/', 'bundle-'));
      const mountPath = `/etc/toolmgr/${folder}`;
      bundles.set(name, {
        volume: { name, configMap: { name: configMap, items: [{ key, path: 'ca.crt' }], defaultMode: CA_MODE } },
        mount: { name, mountPath, readOnly: true },
      });
      contents.set(`file ${mountPath}`, 'text' in found ? found.text : '');
      return { path: `${mountPath}/ca.crt` };
    },
    result() {
      const secrets = secretsVolume(files);
      const all = [...bundles.values(), ...(secrets === undefined ? [] : [secrets])].sort(byVolume);
      const dir = files.size === 0 ? [] : [{ name: 'TOOLMGR_SECRETS_DIR', value: SECRETS_DIR }];
      return {
        env: [...env.values(), ...dir].sort(byName),
        volumes: all.map(({ volume }) => volume),
        volumeMounts: all.map(({ mount }) => mount),
      };
    },
    contents: () => Object.fromEntries(contents),
  };
}

/** Why a text is no CA bundle. */
export function caProblem(found: ConfigText, configMap: string, key: string, by: string): string | undefined {
  if ('problem' in found) return found.problem;
  return CERTIFICATE.test(found.text)
    ? undefined
    : `${by}: the key ${key} of the config map ${configMap} has no certificate in PEM`;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/;

function secretsVolume(files: ReadonlyMap<string, SecretKey>) {
  if (files.size === 0) return undefined;
  const paths = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const names = [...new Set(paths.map(([, { name }]) => name))].sort();
  const sources = names.map((name) => ({
    secret: {
      name,
      items: paths.flatMap(([path, file]) => (file.name === name ? [{ key: file.key, path }] : [])),
    },
  }));
  return {
    volume: { name: SECRETS_VOLUME, projected: { defaultMode: SECRET_MODE, sources } },
    mount: { name: SECRETS_VOLUME, mountPath: SECRETS_DIR, readOnly: true as const },
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function byVolume(a: { readonly volume: Volume }, b: { readonly volume: Volume }): number {
  return byName(a.volume, b.volume);
}
