// Rules of schemas in the words of all others.

import { expect, it } from 'vitest'
import { z } from 'zod'
import { ruleText } from './rule-text.ts'

it.each([
  [z.string().min(1), '', 'must not be empty'],
  [z.string().max(3), 'long', 'must have at most 3 characters'],
  [z.number().min(2), 1, 'must be at least 2'],
  [z.array(z.string()).min(1), [], 'must not be empty'],
  [z.string(), 7, 'must be of type string, received number'],
  [z.enum(['a', 'b']), 'c', 'must be one of "a"|"b"'],
  [z.string().regex(/^a/, 'must begin with a'), 'b', 'must begin with a'],
])('says it plainly (%#)', (schema, value, rule) => {
  const { error } = schema.safeParse(value)
  expect(ruleText(error!.issues[0]!.message)).toBe(rule)
})
