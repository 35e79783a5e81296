// What `carillon doctor` does: looks, tells, and puts right what it may.

import { systemIds } from '../../compose.ts'
import { SchedulerError } from '../../core/errors.ts'
import { examine } from '../../doctor/examine.ts'
import type { Finding } from '../../doctor/finding.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { Store } from '../../store/port.ts'
import type { Maintenance } from '../../store/maintenance.ts'
import type { Context } from '../context.ts'
import { exits } from '../exits.ts'
import { safe } from '../screen.ts'
import type { StorePlace } from './store.ts'
import { withStore, withMaintenance } from './store.ts'

/** One repair may show what was behind it. */
const ROUNDS_MAX = 5

export async function examineStore(
  context: Context,
  place: StorePlace,
  repairs: boolean,
): Promise<number> {
  const schema = await withMaintenance(place.url, async maintenance => {
    const version = await versionOf(context, place, maintenance, repairs)
    return { version, latest: maintenance.latest }
  })
  if (schema.version === null) return exits.failed
  if (schema.version !== schema.latest) {
    const text = `schema ${schema.version} of ${schema.latest}`
    context.show({ store: place.name, schema, findings: [] }, () => `x ${place.name} has ${text}`)
    context.say('carillon migrate up, or let a node do it when it starts')
    return exits.failed
  }
  return withStore(place.url, async store => {
    const first = await look(context, store)
    const known = { store: place.name, promise: store.promise, schema }
    const { isDryRun, json } = context.globals
    if (!json) {
      context.print(`${mark(context, null)} ${safe(store.promise)}, schema ${schema.version}`)
      tell(context, first, isDryRun)
    }
    const mendable = first.filter(({ repair }) => repair !== null)
    const isMeant =
      repairs &&
      !isDryRun &&
      mendable.length > 0 &&
      (await context.confirm(`Repair ${mendable.length}?`))
    const { done, left } = isMeant
      ? await repairAll(context, store, first)
      : { done: [], left: first }
    if (json) context.json({ ...known, findings: left.map(view), repaired: done.map(view) })
    else summary(context, left, done, repairs)
    return left.some(({ severity }) => severity === 'error') ? exits.failed : exits.ok
  })
}

/** Null for a store that lost its marker and is not to be adopted. */
async function versionOf(
  context: Context,
  place: StorePlace,
  maintenance: Maintenance,
  repairs: boolean,
): Promise<number | null> {
  try {
    return await maintenance.version()
  } catch (error) {
    const isLost = error instanceof SchedulerError && error.code === 'STORE_LOST'
    if (!isLost) throw error
    const isMeant = repairs && !context.globals.isDryRun
    if (isMeant && (await context.confirm('Adopt the keys that are there?'))) {
      await maintenance.repair({ kind: 'marker', about: error.message, key: '' })
      if (!context.globals.json) {
        context.print('  repaired: the namespace has a marker; restart the processes that use it')
      }
      return maintenance.version()
    }
    const findings = [{ code: 'marker', severity: 'error', text: error.message }]
    const shown = {
      store: place.name,
      schema: { version: null, latest: maintenance.latest },
      findings,
    }
    context.show(shown, () => `${screenMark(context)} ${safe(error.message)}`)
    return null
  }
}

const screenMark = ({ screen }: Context) => screen.paint('failed', screen.hasUnicode ? '✗' : 'x')

async function look({ terminal, globals, signal }: Context, store: Store): Promise<Finding[]> {
  const shows = terminal.isTerminal && !globals.isQuiet
  const found = await examine({
    store,
    ids: systemIds(),
    now: () => systemClock.now(),
    signal,
    onProgress: jobs => {
      if (shows && jobs % 1_000 === 0) terminal.err(`\r${jobs.toLocaleString('en')} jobs examined`)
    },
  })
  if (shows) terminal.err('\r\u001b[2K')
  return found
}

async function repairAll(context: Context, store: Store, first: readonly Finding[]) {
  const done: Finding[] = []
  let left = first
  for (let round = 0; round < ROUNDS_MAX && left.some(({ repair }) => repair !== null); round++) {
    for (const finding of left) {
      if (finding.repair === null) continue
      context.signal.throwIfAborted()
      const isDone = await finding.repair(await store.now())
      if (!isDone) continue
      done.push(finding)
      if (!context.globals.json) context.print(safe(`  repaired: ${finding.text}`))
    }
    left = await look(context, store)
  }
  return { done, left }
}

function mark({ screen }: Context, finding: Finding | null): string {
  if (finding === null) return screen.paint('ok', screen.hasUnicode ? '✓' : '+')
  if (finding.severity === 'warning') return screen.paint('retry', '!')
  return screen.paint('failed', screen.hasUnicode ? '✗' : 'x')
}

function tell(context: Context, findings: readonly Finding[], isDryRun: boolean): void {
  for (const finding of findings) {
    const { text, remedy, repair } = finding
    const hint =
      remedy === null ? '' : repair === null ? ` → ${remedy}` : isDryRun ? ` → ${remedy}` : ''
    context.print(`${mark(context, finding)} ${safe(text)}${hint}`)
  }
}

const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`

function summary(
  context: Context,
  left: readonly Finding[],
  done: readonly Finding[],
  repairs: boolean,
): void {
  const count = (severity: Finding['severity']) =>
    left.filter(one => one.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  const parts = [
    ...(done.length > 0 ? [`${done.length} repaired`] : []),
    plural(errors, 'error'),
    plural(warnings, 'warning'),
  ]
  const mendable = left.filter(({ repair }) => repair !== null).length
  const hint = mendable > 0 && !repairs ? `; carillon doctor --repair puts ${mendable} right` : ''
  context.say(`${parts.join(', ')}${hint}`)
}

function view({ code, severity, text, jobId, remedy, repair }: Finding) {
  return { code, severity, text, job_id: jobId, remedy, is_repairable: repair !== null }
}
