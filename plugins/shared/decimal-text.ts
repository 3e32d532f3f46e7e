import { z } from 'zod';

/** A decimal that is written as text, because YAML floats differ between readers; stays text when read. */
export const decimalText = (from: number, to: number) =>
  z
    .string('expected a decimal in quotes')
    .refine((value) => /^\d+(\.\d+)?$/.test(value) && Number(value) >= from && Number(value) <= to, {
      message: `expected a decimal from ${from} to ${to} in quotes`,
    });
