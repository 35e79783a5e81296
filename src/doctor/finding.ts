// What was found, and how it is put right: one write each, decided again on what is there then.

import type { Instant } from '../core/time.ts'

export interface Finding {
  /** What kind of fault it is; the same words as in the documentation. */
  readonly code: string
  readonly severity: 'error' | 'warning'
  /** One sentence. */
  readonly text: string
  readonly jobId: string | null
  /** What a repair would do, in words; null when a person has to. */
  readonly remedy: string | null
  /** False when it was no longer there. Null when there is none. */
  readonly repair: ((now: Instant) => Promise<boolean>) | null
}
