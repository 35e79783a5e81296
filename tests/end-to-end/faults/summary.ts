// What a storm came to, in figures and in lines for people.

import type { ChaosResult } from './chaos-run.ts'
import { faultKinds, type FaultCounts } from './storm.ts'

/** More findings than these tell nothing new. */
const SHOWN_MAX = 20

export function summaryOf(result: ChaosResult) {
  const { kind, seed, seconds, counts, occurrences, staleRefused, repeats } = result
  const { lost, duplicates, violations } = result
  return {
    store: kind,
    seed,
    seconds: Math.round(seconds),
    faults: counts,
    occurrences,
    handlerCalls: result.lines.filter(line => line.kind === 'start').length,
    repeats,
    staleRefused,
    lost,
    duplicates,
    violations,
    found: lost.length + duplicates.length + violations.length,
  }
}

const faultText = (counts: Readonly<FaultCounts>) =>
  faultKinds
    .filter(kind => counts[kind] > 0)
    .map(kind => `${counts[kind]} ${kind}`)
    .join(', ')

export function progressLine(kind: string, seconds: number, counts: FaultCounts): string {
  return `${kind}: ${seconds} s, ${faultText(counts)}`
}

export function sentences(result: ChaosResult): string[] {
  const sum = summaryOf(result)
  const list = (name: string, found: readonly string[]) => [
    ...found.slice(0, SHOWN_MAX).map(text => `  ${name}: ${text}`),
    ...(found.length > SHOWN_MAX ? [`  and ${found.length - SHOWN_MAX} more`] : []),
  ]
  return [
    ...list('lost', sum.lost),
    ...list('duplicate', sum.duplicates),
    ...list('violation', sum.violations),
    ...(result.kept === null ? [] : [`${sum.store}: everything seen is in ${result.kept}`]),
    `${sum.store}: ${sum.seconds} s, ${faultText(sum.faults)}`,
    `${sum.store}: ${sum.occurrences} occurrences checked, ${sum.handlerCalls} handler calls ` +
      `(${sum.repeats} repeated), ${sum.staleRefused} stale results refused`,
    `${sum.store}: ${sum.duplicates.length} duplicates, ${sum.lost.length} losses, ` +
      `${sum.violations.length} violations`,
  ]
}
