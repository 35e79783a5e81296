// A job while one decision puts it together: a copy of its own that nobody else has seen. What takes a
// draft writes into it; a copy for every step was most of what a run left behind.

import type { Job } from './job.ts'

declare const isDraft: unique symbol
export type Draft = { -readonly [K in keyof Job]: Job[K] } & { readonly [isDraft]: true }

export function draftOf(job: Job): Draft {
  return { ...job } as Draft
}
