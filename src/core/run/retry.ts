// How long a failed run waits, and when its budget is spent.

import type { RunState } from '../job.ts'
import type { Backoff, JobSpec } from '../spec.ts'
import { hash32 } from '../schedule/spread.ts'
import type { Instant, Millis } from '../time.ts'

/** The delay before the nth retry, n from 1. Never overflows, whatever n is. */
export function backoffMs(
  backoff: Backoff,
  retry: number,
  everyMs: Millis | null,
  seed: string,
): Millis {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.delayMs
    case 'exponential': {
      const full = doubled(backoff.baseMs, retry, backoff.maxMs)
      return full - Math.floor(full * backoff.jitter * share(seed, retry, backoff.jitter))
    }
    case 'relative': {
      const base = everyMs ?? 0
      return doubled(base, retry, base * backoff.maxFactor)
    }
  }
}

function doubled(baseMs: Millis, retry: number, maxMs: Millis): Millis {
  // 2^53 is past every cap; beyond it the power would lose exactness, then reach Infinity.
  const factor = 2 ** Math.min(retry - 1, 52)
  return Math.min(baseMs * factor, maxMs)
}

function share(seed: string, retry: number, jitter: number): number {
  return jitter === 0 ? 0 : hash32(`${seed}:${retry}`) / 0x1_0000_0000
}

/** The failures that still count: none once their period is over. */
export function failuresAt(run: RunState, resetAfterMs: Millis | null, now: Instant): number {
  const since = run.failingSince
  const isOver = since === null || (resetAfterMs !== null && now >= since + resetAfterMs)
  return isOver ? 0 : run.failures
}

/** One more failure, counted in its period. */
export function withFailure(run: RunState, resetAfterMs: Millis | null, now: Instant): RunState {
  const failures = failuresAt(run, resetAfterMs, now)
  return { ...run, failures: failures + 1, failingSince: failures === 0 ? now : run.failingSince }
}

export function mayRetry(run: RunState, limit: number | null): boolean {
  return limit === null || run.failures <= limit
}

export function retryDelayMs(spec: JobSpec, failures: number, seed: string): Millis {
  const everyMs = spec.trigger.kind === 'interval' ? spec.trigger.everyMs : null
  return backoffMs(spec.retry.backoff, failures, everyMs, seed)
}
