/** Protocol revisions that begin with `initialize`, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** One of {@link LEGACY_VERSIONS}. */
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number];

/** Whether a text is one of {@link LEGACY_VERSIONS}. */
export function isLegacyVersion(version: unknown): version is LegacyVersion {
  return (LEGACY_VERSIONS as readonly unknown[]).includes(version);
}
