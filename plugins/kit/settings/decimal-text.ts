import { z } from 'zod';

/** A decimal from 0 to `to` (1 to 9) in quotes, because YAML parsers differ in floats; it stays a text. */
export const decimalText = (to: number) =>
  z
    .string('expected a decimal in quotes')
    .regex(
      new RegExp(`^0*(?:[0-${to - 1}](?:\\.\\d+)?|${to}(?:\\.0+)?)$`),
      `expected a decimal from 0 to ${to} in quotes`,
    );
