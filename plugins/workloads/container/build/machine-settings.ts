import { type Environment, packageSettings, type SchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';

/** Settings of this machine for downloads of a build. They are build arguments, which the image does not keep. */
export interface MachineSettings {
  /** Package registries, by the name of the build argument. */
  readonly registries: Readonly<Record<string, string>>;
  /** Proxies; engines know these build arguments by themselves. */
  readonly proxies: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** The settings of {@link packageSettings} and proxies, as far as a build can use them. */
export async function machineSettings(scheme: SchemeTarget['scheme'], env: Environment): Promise<MachineSettings> {
  const found = await packageSettings(scheme, env);
  const warnings: string[] = [];
  const reachable = (settings: Readonly<Record<string, string | undefined>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(settings).flatMap(([name, value]) => {
        if (value === undefined || value === '' || CONTROL.test(value)) return [];
        if (!name.toUpperCase().startsWith('NO') && isLoopback(value)) {
          warnings.push(`${name} leads to this machine's loopback address, which a build cannot reach: it is not used`);
          return [];
        }
        return [[name, value] as const];
      }),
    );
  const names = PROXIES.flatMap((name) => [name, name.toLowerCase()]);
  const registries = reachable(found);
  const proxies = reachable(Object.fromEntries(names.map((name) => [name, env[name]])));
  return { registries, proxies, warnings };
}

/** A setting without user name and password, for comparing and printing. */
export function withoutCredentials(value: string): string {
  return value.replace(/(\/\/)[^/@\s]*@/g, '$1***@');
}

/** The user names and passwords in settings, which must not be printed. */
export function credentialsIn(settings: readonly string[]): readonly string[] {
  return settings.flatMap((value) => [...value.matchAll(/\/\/([^/@\s]+)@/g)].flatMap((found) => found[1] ?? []));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
const CONTROL = /[\u0000-\u001f\u007f]/;

function isLoopback(value: string): boolean {
  return /^(?:[a-z0-9+]+:\/\/)?(?:[^/@]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/i.test(value);
}
