import { explainIssues } from '@toolmgr/core';
import type { FieldProblem } from '@toolmgr/plugins/management';
import type { z } from 'zod';

const MAX_FIELDS = 20; // in one answer; the count of the others is said

/** One entry for each fault that a schema found in a part of a request. Values are not repeated: they may be secret. */
export function explainFields(part: FieldProblem['in'], schema: z.ZodType, error: z.ZodError): FieldProblem[] {
  const faults = error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.');
    const one = { issues: [issue] } as unknown as z.ZodError;
    return explainIssues('', schema, one).map((sentence) => ({ in: part, path, detail: withoutPath(sentence, path) }));
  });
  if (faults.length <= MAX_FIELDS) return faults;
  const more = { in: part, path: '', detail: `${faults.length - MAX_FIELDS} more faults are not listed` };
  return [...faults.slice(0, MAX_FIELDS), more];
}

function withoutPath(sentence: string, path: string): string {
  return path !== '' && sentence.startsWith(`${path}: `) ? sentence.slice(path.length + 2) : sentence;
}
