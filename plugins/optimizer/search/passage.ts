import type { ToolEntry } from '@toolmgr/core';
import { textsOf } from './tool-texts.ts';

/** Only the beginning of a description is embedded: the rest is less specific and takes longer. */
const MAX_PASSAGE = 500;

/** The text of a tool that is embedded: its backend, its name as words, its description. */
export function passageOf(tool: ToolEntry): string {
  const { name, backend, description } = textsOf(tool);
  return `${spacedWords(backend)}: ${spacedWords(name)}. ${description}`.slice(0, MAX_PASSAGE);
}

function spacedWords(identifier: string): string {
  return identifier
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/[_\-./]+/g, ' ')
    .trim();
}
