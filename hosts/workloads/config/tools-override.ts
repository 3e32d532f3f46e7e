import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { UsageError } from '../../shared/usage-error.ts';
import { readOptionFile } from './option-file.ts';

const entry = z
  .strictObject({ name: z.string().min(1).optional(), description: z.string().min(1).optional() })
  .refine(({ name, description }) => name !== undefined || description !== undefined, {
    error: 'expected a name or a description',
  });

const overridesFile = z.strictObject({ toolsOverride: z.record(z.string().min(1), entry) });

/**
 * Reads the file of `--tools-override`: `{"toolsOverride": {"TOOL": {"name", "description"}}}`.
 * @throws UsageError when it cannot be read, or gives two tools the same name
 */
export async function readOverrides(file: string, cwd: string): Promise<NonNullable<RunConfig['tools_override']>> {
  const { toolsOverride } = await readOptionFile('--tools-override', file, cwd, overridesFile);
  const namedBy = new Map<string, string>();
  for (const [tool, { name }] of Object.entries(toolsOverride)) {
    if (name === undefined) continue;
    const first = namedBy.get(name);
    if (first !== undefined)
      throw new UsageError(`--tools-override ${file}: ${first} and ${tool} both get the name ${name}`);
    namedBy.set(name, tool);
  }
  return toolsOverride;
}
