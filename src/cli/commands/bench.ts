// `carillon bench`: how fast the store at hand is, measured beside it and never in it.

import { define, exits } from '../command.ts'
import { usage } from '../problem.ts'
import { whole } from '../numbers.ts'
import { safe } from '../screen.ts'

const SINGLES = 50
const AT_ONCE = 1_000
const SLOTS = 100

export const command = define({
  name: 'bench',
  group: 'host',
  about: 'measure the store at hand, in a file, schema or namespace of its own that is removed',
  flags: [
    {
      flags: '--jobs <n>',
      about: 'jobs of the load (default 5,000)',
      parse: whole(100, 1_000_000),
    },
    { flags: '--slots <n>', about: `run at once (default ${SLOTS})`, parse: whole(1, 1_000) },
  ],
  examples: [
    ['carillon bench', 'the store of this folder'],
    ['carillon bench --store postgres://db.example.com/jobs --jobs 50000', 'another, for longer'],
  ],
  notes: 'Nothing of your store is read or written: a fresh one lies beside it meanwhile.',
  run: async (context, _, flags) => {
    const { placeOf } = await import('../target/place.ts')
    const place = await placeOf(context.globals)
    if (place.kind === 'remote') throw usage('bench works on a store', 'name it with --store')
    const { benchStore } = await import('../keeping/bench.ts')
    const report = await benchStore(context, place.config.store, {
      jobs: (flags['jobs'] as number | undefined) ?? 5_000,
      slots: (flags['slots'] as number | undefined) ?? SLOTS,
      atOnce: AT_ONCE,
      singles: SINGLES,
    })
    context.show(report, () => safe(lineOf(report)))
    return report.lost > 0 || report.doubled > 0 ? exits.failed : exits.ok
  },
})

type Report = Awaited<ReturnType<typeof import('../keeping/bench.ts').benchStore>>

function lineOf(report: Report): string {
  const { start_latency_ms: latency, lateness_ms: late } = report
  return [
    `store=${report.store}`,
    `jobs=${report.jobs.toLocaleString('en')}`,
    `insert=${report.inserted_per_second.toLocaleString('en')}/s`,
    `runs=${report.runs_per_second.toLocaleString('en')}/s`,
    `start p50/p95=${latency.p50}/${latency.p95} ms`,
    `lateness of ${report.at_once.toLocaleString('en')} p50/p95/p99=${late.p50}/${late.p95}/${late.p99} ms`,
    `dup=${report.doubled}`,
    `lost=${report.lost}`,
    `rss=${report.rss_mib} MiB`,
  ].join('  ')
}
