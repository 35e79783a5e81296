// Next times per second: ours, croner and cron-parser on the same chains, interleaved.
// npx tsx bench/cron.ts [--json]
import { CronExpressionParser } from 'cron-parser'
import { Cron as Croner } from 'croner'
import { parseCron } from '../src/cron/index.ts'
import { median } from './support.ts'

const ZONE = 'Europe/Berlin'
const FROM = Date.UTC(2026, 0, 1)
const UNTIL = Date.UTC(2100, 0, 1)
const ROUNDS = 5
const EXPRESSIONS = [
  '*/5 * * * *',
  '0 7 * * 1-5',
  '30 2 * * *',
  '0 0 29 2 *',
  '15 10 L * *',
] as const

type Next = (after: number) => number | null

interface Contender {
  readonly name: string
  /** Long enough to be measured, short enough for the slow ones. */
  readonly budgetMs: number
  make(expression: string): Next
}

const CONTENDERS: readonly Contender[] = [
  {
    name: 'carillon',
    budgetMs: 60,
    make(expression) {
      const cron = parseCron(expression, { zone: ZONE })
      return after => cron.next(after)
    },
  },
  {
    name: 'croner',
    budgetMs: 60,
    make(expression) {
      const job = new Croner(expression, { timezone: ZONE, paused: true })
      return after => job.nextRun(new Date(after))?.getTime() ?? null
    },
  },
  {
    name: 'cron-parser',
    budgetMs: 60,
    make(expression) {
      const chain = CronExpressionParser.parse(expression, {
        tz: ZONE,
        currentDate: new Date(FROM),
      })
      // Its iterator is its fast path; going back to the start stands in for the argument.
      return after => {
        if (after === FROM) chain.reset(new Date(FROM))
        return chain.next().getTime()
      }
    },
  },
]

function rate(next: Next, budgetMs: number): number {
  const batch = 16
  const start = performance.now()
  let done = 0
  let at = FROM
  let spent = 0
  do {
    for (let i = 0; i < batch; i++) {
      const found = next(at)
      at = found === null || found > UNTIL ? FROM : found
    }
    done += batch
    spent = performance.now() - start
  } while (spent < budgetMs)
  return (done / spent) * 1000
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

/** By contender and expression, one rate a round. */
type Rates = ReadonlyMap<string, readonly (readonly number[])[]>

function measure(): Rates {
  const all = new Map<string, number[][]>(CONTENDERS.map(({ name }) => [name, []]))
  for (const expression of EXPRESSIONS) {
    const entries = CONTENDERS.map(contender => {
      return { ...contender, next: contender.make(expression), rates: [] as number[] }
    })
    for (const { next, budgetMs } of entries) rate(next, budgetMs)
    for (let round = 0; round < ROUNDS; round++) {
      for (const { next, budgetMs, rates } of entries) rates.push(rate(next, budgetMs))
    }
    for (const { name, rates } of entries) all.get(name)!.push(rates)
  }
  return all
}

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(16) : cell.padStart(14))).join('')
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function report(all: Rates): void {
  const medians = new Map([...all].map(([name, rates]) => [name, rates.map(median)]))
  const means = new Map([...medians].map(([name, rates]) => [name, geometricMean(rates)]))
  const ours = means.get('carillon')!
  if (process.argv.includes('--json')) {
    const results = [...all].map(([name, rates]) => {
      const perExpression = Object.fromEntries(
        EXPRESSIONS.map((expression, i) => [expression, Math.round(medians.get(name)![i]!)]),
      )
      const mean = means.get(name)!
      const rounds = Array.from({ length: ROUNDS }, (_, round) =>
        Math.round(geometricMean(rates.map(values => values[round]!))),
      )
      return { name, perExpression, rounds, geometricMean: Math.round(mean), ratio: ours / mean }
    })
    console.log(JSON.stringify({ bench: 'cron', zone: ZONE, unit: 'next/s', results }, null, 2))
    return
  }
  const names = [...medians.keys()]
  console.log(`next times per second, ${ZONE}, median of ${ROUNDS}`)
  console.log(row(['expression', ...names]))
  EXPRESSIONS.forEach((expression, i) => {
    console.log(row([expression, ...names.map(name => number(medians.get(name)![i]!))]))
  })
  console.log(row(['geometric mean', ...names.map(name => number(means.get(name)!))]))
  console.log(row(['ours is', ...names.map(name => `${(ours / means.get(name)!).toFixed(1)} x`)]))
}

report(measure())
