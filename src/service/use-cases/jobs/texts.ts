// A text and a moment as callers give them, apart from forms that most requests do not have.

import { z } from 'zod'

/** Text without control characters: it travels through logs, keys and terminals. */
export const text = (max: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .regex(/^[^\p{Cc}]*$/u, 'must have no control characters')

export const moment = z.iso
  .datetime({
    offset: true,
    abort: true,
    error: 'must be a moment such as 2027-01-31T09:00:00Z',
  })
  .refine(value => !Number.isNaN(Date.parse(value)), {
    error: 'must be a moment that exists',
    abort: true,
  })
  // What follows from it, such as the next of an interval, must have a year of four digits too.
  .refine(isNameable, 'must be between the years 1 and 9000')

function isNameable(value: string): boolean {
  const year = new Date(value).getUTCFullYear()
  return year >= 1 && year <= 9_000
}
