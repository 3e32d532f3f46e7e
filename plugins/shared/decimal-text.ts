import { z } from 'zod';

/** A decimal in quotes, because YAML parsers differ in floats; it stays a text. */
export const decimalText = (from: number, to: number) =>
  z
    .string('expected a decimal in quotes')
    .refine((value) => /^\d+(\.\d+)?$/.test(value) && Number(value) >= from && Number(value) <= to, {
      message: `expected a decimal from ${from} to ${to} in quotes`,
    });
