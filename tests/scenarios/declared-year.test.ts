// E8: a year of declared tasks in zones that shift their clocks, against what wall clocks showed.

import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, type Instant } from '../../src/core/time.ts'
import { callsOf, program } from '../support/tasks.ts'
import { makeWorld, moment } from '../support/world.ts'

const from = moment('2026-01-01T00:07:00Z')
const to = from + 365 * DAY

const crons = ['30 2 * * *', '30 1 * * *', '15,45 1-3 * * 0', '0 0,12 1 * *', '5 4 29 2 1']

interface Pattern {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly fits: (wall: Wall) => boolean
}

interface Wall {
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
}

/** The same tasks said another way, for an answer that owes nothing to the cron engine. */
const patterns: readonly Pattern[] = [
  { minutes: [30], hours: [2], fits: () => true },
  { minutes: [30], hours: [1], fits: () => true },
  { minutes: [15, 45], hours: [1, 2, 3], fits: ({ weekday }) => weekday === 0 },
  { minutes: [0], hours: [0, 12], fits: ({ day }) => day === 1 },
  {
    minutes: [5],
    hours: [4],
    fits: ({ day, month, weekday }) => month === 2 && (day === 29 || weekday === 1),
  },
]

function wallOf(format: Intl.DateTimeFormat, at: Instant): Wall {
  const [year, month, day, hour, minute] = format.format(at).match(/\d+/g)!.map(Number)
  const weekday = new Date(Date.UTC(year!, month! - 1, day)).getUTCDay()
  return { minute: minute!, hour: hour!, day: day!, month: month!, weekday }
}

/** Every minute at which the clock on the wall shows what the pattern says. */
function expected(zone: string): string[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const found: string[] = []
  // Every zone here is a multiple of 30 minutes from UTC, so only these minutes can match.
  for (let at = Math.ceil(from / (5 * MINUTE)) * 5 * MINUTE; at <= to; at += 5 * MINUTE) {
    const inHour = (at / MINUTE) % 30
    if (inHour !== 0 && inHour !== 15 && inHour !== 5) continue
    const wall = wallOf(format, at)
    patterns.forEach(({ minutes, hours, fits }, i) => {
      const isTime = minutes.includes(wall.minute) && hours.includes(wall.hour)
      if (isTime && fits(wall)) found.push(`${crons[i]} at ${new Date(at).toISOString()}`)
    })
  }
  return found.toSorted()
}

test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])(
  'E8: a year in %s without a missed or doubled run beyond the rule',
  async zone => {
    const world = await makeWorld({ at: from })
    const runs: string[] = []
    const one = await program(world, { tz: zone, settings: { reapMs: HOUR, pruneMs: DAY } })
    const { task } = callsOf(world)
    const tasks = crons.map(cron =>
      task(cron, cron, 0, () => runs.push(`${cron} at ${new Date(world.now).toISOString()}`)),
    )
    await one.initialize(tasks)
    await world.advanceTo(to)
    await one.stop()
    expect(runs.toSorted()).toEqual(expected(zone))
    const daily = runs.filter(run => run.startsWith(crons[0]!))
    // The gap takes a day away in Berlin and New York, the fold adds a run where it repeats 02:30.
    expect(daily).toHaveLength({ 'Europe/Berlin': 365, 'America/New_York': 364 }[zone] ?? 365)
  },
)
