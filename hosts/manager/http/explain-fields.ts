import { explainIssues, fieldPath, shortened } from '@toolmgr/core';
import type { FieldProblem } from '@toolmgr/plugins/kit/operations';
import type { z } from 'zod';

const MAX_FIELDS = 20; // in one answer; the count of the others is said

/** One entry for each fault that a schema found in a part of a request. Values are not repeated: they may be secret. */
export function explainFields(part: FieldProblem['in'], schema: z.ZodType, error: z.ZodError): FieldProblem[] {
  const count = error.issues.reduce((sum, issue) => sum + (keysOf(issue)?.length ?? 1), 0);
  // a body may have 100,000 faults, and the search for the nearest name takes time
  const faults = error.issues.slice(0, MAX_FIELDS).flatMap((issue) => {
    const path = shortened(fieldPath(issue.path), MAX_NAME);
    const keys = keysOf(issue);
    const short =
      keys === undefined
        ? issue
        : { ...issue, keys: keys.slice(0, MAX_FIELDS).map((line) => shortened(line, MAX_NAME)) };
    const one = { issues: [short] } as unknown as z.ZodError;
    return explainIssues('', schema, one).map((sentence) => ({ in: part, path, detail: withoutPath(sentence, path) }));
  });
  const listed = faults.slice(0, MAX_FIELDS);
  if (count <= listed.length) return listed;
  return [...listed, { in: part, path: '', detail: `${count - listed.length} more faults are not listed` }];
}

/** The names of an issue about unknown members. */
function keysOf(issue: z.core.$ZodIssue): readonly string[] | undefined {
  return issue.code === 'unrecognized_keys' ? issue.keys : undefined;
}

const MAX_NAME = 200;

function withoutPath(sentence: string, path: string): string {
  return path !== '' && sentence.startsWith(`${path}: `) ? sentence.slice(path.length + 2) : sentence;
}
