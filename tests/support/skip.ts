// Skips tests whose server or program is not on this machine, with the reason. In CI nothing is skipped:
// there a missing one is an error before.

import { beforeAll, beforeEach, TestRunner } from 'vitest'
import { findBinaries, missingMessage, type ProgramKind } from './servers/binaries.ts'

/** Skips the test that runs now, from wherever it asks. */
export function skipTest(reason: string): never {
  TestRunner.getCurrentTest()?.context.skip(reason)
  // A hook of a whole file has no test to skip.
  throw new Error(reason)
}

/** `start` runs before all tests of a file and returns what ends it; without the program they are skipped. */
export function beforeAllWith(kind: ProgramKind, start: () => Promise<() => Promise<void>>): void {
  const isMissing = findBinaries(kind) === null && process.env['CI'] !== 'true'
  beforeAll(() => (isMissing ? undefined : start()))
  beforeEach(() => {
    if (isMissing) skipTest(missingMessage(kind))
  })
}
