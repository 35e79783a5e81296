// The page about performance, made from the results of a run and from nothing else.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './fleet.ts'
import { plot } from './plot.ts'
import { nameOf, number, ordered } from './print.ts'
import { standings, type Standing } from './ratios.ts'
import type { Figure, Results, Row } from './results.ts'

const PAGE = 'docs/explanation/performance.md'
const IMAGES = 'docs/images'

interface Section {
  readonly title: string
  readonly text: string
  /** Rows shown as a picture. */
  readonly plots: readonly string[]
}

const sections: Readonly<Record<string, Section>> = {
  across: {
    title: 'From one process to another',
    text: `One process asks for jobs, another works: as a web process and a worker have it. One job at
a time with 25 ms between two, then 500 jobs a second whose handlers take 5 ms, then nothing at all.`,
    plots: ['across-idle-p50', 'across-steady-p50'],
  },
  mixed: {
    title: 'Jobs that differ',
    text: `Five handlers, ten users, three priorities and payloads of 100 bytes to 4 KiB, inserted by
one process and drained by others that are started afterwards; connecting is part of the time.
Carillon keeps the history of every run, holds leases and serves the users in turn; a job of it counts
when its outcome is recorded.`,
    plots: ['mixed-drained-1'],
  },
  jobs: {
    title: 'Inserting and running',
    text: `Every job is a no-op with a payload of about 200 bytes. A run counts when its outcome is
recorded. Carillon records an outcome and a history row for each run, and is held against peers that
keep nothing all the same; told to keep no attempts, it still records how each job ended. Graphile
Worker always deletes finished jobs; pg-boss records one outcome for a whole batch. The raw
statements claim, complete and write a history row over a minimal table, without a scheduler and
without handlers.`,
    plots: ['bulk-insert', 'single-insert', 'runs', 'runs-unkept'],
  },
  latency: {
    title: 'From asking to start',
    text: 'One job at a time on a worker with nothing else to do, in the same process.',
    plots: ['latency-p50'],
  },
  schedules: {
    title: 'Many schedules',
    text: `Cron schedules, created through the API that exists for it; Graphile Worker takes them only
at its start, which is what is measured. Then nothing is due for a while, and at last all fall due
in the same second (pg-boss and Graphile Worker: minute). CPU time is that of the process and the
server together. Schedulers in memory lose everything with their process; they are shown, but the
ratios are to those that last.`,
    plots: ['create-10k', 'create-100k', 'idle-10k', 'late-p99-1k', 'late-p99-10k'],
  },
  cron: {
    title: 'Cron',
    text: `Next moments of five expressions in a zone with clock changes. The other libraries use one
of these two inside, or count from the present only.`,
    plots: ['cron-next'],
  },
  flood: {
    title: 'Fairness under flood',
    text: `One user queues many jobs; while they are worked off, another user adds one. The peers’ free
versions have no notion of whose job it is.`,
    plots: ['flood'],
  },
  backlog: {
    title: 'Backlog',
    text: 'The first runs of a worker that finds a small or a large backlog.',
    plots: [],
  },
  nodes: {
    title: 'Several nodes on one PostgreSQL',
    text: 'Processes and server share the cores of one machine, so this shows contention, not growth.',
    plots: [],
  },
  api: {
    title: 'The service',
    text: 'Requests to `carillon serve` with a token, from another process on the same machine.',
    plots: [],
  },
}

const percent = (share: number | null): string =>
  share === null ? '–' : `${Math.round(share * 100)} %`

const table = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')

function figureLine(figure: Figure, row: Row): string[] {
  const bold = figure.contender === 'carillon' ? '**' : ''
  const rates = figure.values.length
  return [
    `${bold}${nameOf(figure)}${bold}`,
    `${bold}${number(figure.median)}${bold}`,
    `${number(figure.min)} – ${number(figure.max)} (${rates})`,
    percent(figure.client),
    percent(figure.server),
    ratioText(figure, row),
    figure.notes.slice(0, 1).join('; '),
  ]
}

function ratioText(figure: Figure, row: Row): string {
  if (figure.contender !== 'carillon') return ''
  const own = standings(row).find(({ store }) => store === figure.store)
  return own ? standingText(own) : ''
}

function standingText({ toBestPeer, toBestAnywhere, shareOfRaw }: Standing): string {
  const best = toBestPeer ?? toBestAnywhere
  return [
    ...(best ? [`${best.ratio.toFixed(2)} × ${best.name}`] : []),
    ...(shareOfRaw === null ? [] : [`${Math.round(shareOfRaw * 100)} % of raw`]),
  ].join(', ')
}

function rowText(row: Row, hasPlot: boolean): string {
  const better = row.lowerIsBetter ? 'less is better' : 'more is better'
  const head = ['', row.unit, 'range (rounds)', 'client', 'server', 'against the best', '']
  return [
    `### ${row.title}`,
    ...(hasPlot ? [`![${row.title}, ${better}](../images/bench-${row.id}.svg)`] : []),
    table(
      head,
      ordered(row).map(figure => figureLine(figure, row)),
    ),
  ].join('\n\n')
}

function sectionText(id: string, rows: readonly Row[], plotted: ReadonlySet<string>): string {
  const { title, text } = sections[id]!
  const tables = rows.map(row => rowText(row, plotted.has(row.id)))
  return [`## ${title}`, text, ...tables].join('\n\n')
}

function settingsTable(rows: readonly Row[]): string {
  const seen = new Map<string, string[]>()
  for (const figure of rows.flatMap(row => row.figures)) {
    const name = nameOf(figure)
    seen.set(`${name} ${figure.settings}`, [name, figure.settings])
  }
  return table(['contender', 'settings and durability'], [...seen.values()])
}

function glance(rows: readonly Row[]): string {
  const lines = rows.flatMap(row =>
    standings(row).map(({ store, toBestPeer, toBestAnywhere, shareOfRaw }) => [
      row.title,
      store,
      toBestPeer ? `${toBestPeer.ratio.toFixed(2)} × ${toBestPeer.name}` : '–',
      toBestAnywhere ? `${toBestAnywhere.ratio.toFixed(2)} × ${toBestAnywhere.name}` : '–',
      percent(shareOfRaw),
    ]),
  )
  const head = ['', 'Carillon on', 'best peer, same store', 'best peer, any store', 'of raw']
  return table(head, lines)
}

const TRIAL =
  '**A trial with small numbers and one round: it shows that everything runs, no more.**\n\n'

/** Without marks, frequency and the word for what it is. */
function modelOf(text: string): string {
  const short = text.replaceAll(/\((?:R|TM)\)|\bProcessor\b|\d+-Core|@.*$/g, ' ')
  return short.replaceAll(/\s+/g, ' ').trim()
}

function intro({ at, isQuick, machine, servers }: Results): string {
  const { node, processors, memoryGb, platform } = machine
  const processor = modelOf(String(machine['processor']))
  return `# Performance

<!-- Written by \`npm run bench -- --report\` from bench/results/latest.json. Do not edit. -->

${isQuick ? TRIAL : ''}Measured on ${at.slice(0, 10)}: ${processors} CPU cores (${processor}),
${memoryGb} GB, ${platform}, Node ${node}, PostgreSQL ${servers['postgres']}, Redis ${servers['redis']};
clients and servers on the same machine. Every contender has a process of its own, and all take
turns in every round, after a warm-up that is thrown away. Figures are medians, with the range and
the number of rounds. CPU shares are those of one core, of the client and of the server. Only ratios
within a table mean something elsewhere.
[How to run it](../how-to/run-benchmarks.md).

## At a glance

Above 1 Carillon is ahead, whichever direction is better.`
}

/** The files it wrote. */
export function report(results: Results): string[] {
  const rows = results.rows.filter(({ section }) => Object.hasOwn(sections, section))
  const folder = join(root, IMAGES)
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    if (/^bench-.*\.svg$/.test(name)) rmSync(join(folder, name))
  }
  const written: string[] = []
  const write = (path: string, text: string) => {
    writeFileSync(join(root, path), text)
    written.push(path)
  }
  const wanted = new Set(Object.values(sections).flatMap(({ plots }) => plots))
  const plotted = rows.filter(({ id, figures }) => wanted.has(id) && figures.length > 1)
  for (const row of plotted) write(`${IMAGES}/bench-${row.id}.svg`, plot(row))
  const ids = new Set(plotted.map(({ id }) => id))
  const parts = Object.keys(sections).flatMap(id => {
    const own = rows.filter(({ section }) => section === id)
    return own.length > 0 ? [sectionText(id, own, ids)] : []
  })
  const settings = ['## Settings', settingsTable(rows)]
  write(PAGE, `${[intro(results), glance(rows), ...parts, ...settings].join('\n\n')}\n`)
  return written
}
