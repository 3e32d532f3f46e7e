import { createHash } from 'node:crypto';
import type { SkillFields } from './skill-file.ts';

/** One file of a skill. */
export interface SkillFile {
  /** Relative to the folder of the skill, with `/`: no `..`, no link, unique also without regard to case. */
  readonly path: string;
  readonly size: number;
  /** At most `0o644`. */
  readonly mode: number;
  readonly content: Buffer;
}

/** A skill from anywhere: verified against its digest, and within the limits of an installation. */
export interface SkillArtifact extends SkillFields {
  /** SKILL.md without its front matter. */
  readonly body: string;
  /** `SKILL.md` first, then sorted by path. */
  readonly files: readonly SkillFile[];
  readonly kind: 'oci' | 'git' | 'local';
  /** `sha256:` and 64 hex digits of the index or manifest; the commit of a git reference. */
  readonly digest: string;
  /** From {@link contentDigest}. */
  readonly contentDigest: string;
  /** The same artifact for ever: an OCI reference by digest, or a git reference with a commit. Of a local build: its tag. */
  readonly resolvedReference: string;
  /** What was asked for. */
  readonly source: string;
  /** Tag of an OCI reference or local build. */
  readonly tag?: string;
}

/**
 * Digest over the contents of a skill, the same for an archive, a commit and an installed folder: SHA-256 over the sorted
 * lines of path, NUL and the SHA-256 of the file in hex.
 */
export function contentDigest(files: readonly Pick<SkillFile, 'path' | 'content'>[]): string {
  const lines = files.map(({ path, content }) => `${path}\0${hexDigest(content)}\n`).sort();
  return `sha256:${hexDigest(lines.join(''))}`;
}

function hexDigest(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
