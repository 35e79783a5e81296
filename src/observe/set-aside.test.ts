// What the console and the log say of a job that is set aside after crashes: once, and its recovery.

import { expect, test } from 'vitest'
import type { Outcome } from '../core/attempt.ts'
import { HOUR, iso } from '../core/time.ts'
import { Events } from '../runtime/events.ts'
import { succeeded } from '../../tests/support/builders.ts'
import { every, made, ran } from '../../tests/support/pure.ts'
import { logToConsole } from './console-log.ts'
import { logTo } from './log.ts'

test('G1 a job that is set aside is reported once, and so is its recovery', () => {
  const lines: string[] = []
  const logged: string[] = []
  const events = new Events()
  const note = (_: object, message: string) => logged.push(message)
  logToConsole(events, { now: () => 0, write: line => lines.push(line), hasCommand: true })
  logTo(events, { debug: note, info: note, warn: note, error: note })
  let job = made(every(HOUR))
  const run = (outcome: Outcome) => {
    const { attempt, ...step } = ran(job, outcome, job.dueAt!)
    job = step.job
    events.emit('settled', { settled: [{ job, attempt, skips: [] }] })
  }
  for (let crash = 1; crash <= 5; crash++) run({ kind: 'abandoned' })
  const next = iso(job.dueAt!)
  run({ kind: 'abandoned' })
  run(succeeded)
  const about = lines.filter(line => line.includes('set aside'))
  expect(about).toHaveLength(1)
  expect(about[0]).toContain(
    `was set aside after 5 crashes in a row; next try at ${next}; carillon`,
  )
  expect(lines.at(-1)).toMatch(/INFO .* recovered after 6 failures$/)
  expect(logged.filter(message => message.includes('set aside'))).toEqual([
    'job set aside',
    'job recovered after it was set aside',
  ])
})
