import { createHash } from 'node:crypto';
import { contentDigest, type SkillArtifact } from '../../../../plugins/skills/artifact/artifact.ts';

/** What a made-up skill is. */
export interface MadeSkill {
  readonly name: string;
  readonly text?: string;
  readonly version?: string;
  readonly requires?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** A skill as reading gives it. */
export function artifactOf(reference: string, made: MadeSkill): SkillArtifact {
  const files = Object.entries({ 'SKILL.md': made.text ?? `# ${made.name}`, ...made.files }).map(([path, content]) => ({
    path,
    size: content.length,
    mode: 0o644,
    content: Buffer.from(content),
  }));
  const content = contentDigest(files);
  const digest = `sha256:${createHash('sha256')
    .update(`${content}${made.version ?? ''}${made.requires ?? ''}`)
    .digest('hex')}`;
  const repository = reference.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  const tag = /:([^/:@]+)$/.exec(reference)?.[1];
  return {
    name: made.name,
    ...(made.version === undefined ? {} : { version: made.version }),
    description: `about ${made.name}`,
    allowedTools: [],
    requires: made.requires ?? [],
    metadata: made.metadata ?? {},
    body: made.text ?? `# ${made.name}`,
    files,
    kind: 'oci',
    digest,
    contentDigest: content,
    resolvedReference: `${repository}@${digest}`,
    source: reference,
    ...(tag === undefined ? {} : { tag }),
  };
}
