import type { ToolEntry } from '@toolmgr/core';
import { textsOf } from './read-tool.ts';

/** The beginning of a description says what the tool is for; what follows takes the meaning elsewhere, and longer to embed. */
const MAX_PASSAGE = 500;

/** What is embedded of a tool: its backend, its name in words, its description. */
export function passageOf(tool: ToolEntry): string {
  const { name, backend, description } = textsOf(tool);
  return `${spoken(backend)}: ${spoken(name)}. ${description}`.slice(0, MAX_PASSAGE);
}

function spoken(identifier: string): string {
  return identifier
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/[_\-./]+/g, ' ')
    .trim();
}
